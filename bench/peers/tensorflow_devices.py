"""TensorFlow reduces lists of values on logical CPU devices, as its MirroredStrategy does."""
import tensorflow as tf
from peer import read_devices, serve

MOST_REPLICAS = 8


def make_way(case, ops):
    devices = [f"CPU:{index}" for index in range(case.terms)]
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=ops)
    values = [strategy.experimental_distribute_values_from_function(
        lambda _, count=count: tf.identity(tf.ones([count]))) for count in case.counts]

    @tf.function
    def reduce(per_replica):
        with strategy.scope():
            pairs = [(value, value if case.outputs == "all" else "CPU:0") for value in per_replica]
            sums = ops.batch_reduce(tf.distribute.ReduceOp.SUM, pairs)
            return [strategy.experimental_local_results(each)[0] for each in sums]

    return lambda: reduce(values)


def make_ways(case):
    ways = {"tensorflow": make_way(case, tf.distribute.ReductionToOneDevice())}
    if case.outputs == "all":
        ways["tensorflow_hierarchical"] = make_way(case, tf.distribute.HierarchicalCopyAllReduce())
    return ways


if __name__ == "__main__":
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration()] * MOST_REPLICAS)
    serve(tf.__version__, make_ways, read_devices)
