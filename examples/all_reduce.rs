// Each rank gives (rank + 1) times 1 2 3, and rank 0 prints the sum.
use std::ffi::{c_char, c_void, CStr};
use std::ptr::{null, null_mut};

// bindgen makes these from fanin.h.
#[link(name = "fanin_c")]
extern "C" {
    fn fanin_last_error() -> *const c_char;
    fn fanin_join(options: *const c_void, group: *mut *mut c_void) -> i32;
    fn fanin_rank(group: *const c_void, rank: *mut i32) -> i32;
    fn fanin_all_reduce(
        group: *mut c_void, input: *const c_void, output: *mut c_void, count: usize, dtype: i32,
        options: *const c_void, handle: *mut *mut c_void,
    ) -> i32;
    fn fanin_group_free(group: *mut c_void);
}
const FANIN_FLOAT32: i32 = 2;

fn check(code: i32) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(fanin_last_error()) }.to_string_lossy().into_owned())
}

fn main() -> Result<(), String> {
    let (mut group, mut rank) = (null_mut(), 0);
    let mut sum = [0f32; 3];
    unsafe {
        check(fanin_join(null(), &mut group))?;
        check(fanin_rank(group, &mut rank))?;
        let gradient = [1f32, 2.0, 3.0].map(|number| number * (rank + 1) as f32);
        check(fanin_all_reduce(
            group, gradient.as_ptr().cast(), sum.as_mut_ptr().cast(), 3, FANIN_FLOAT32, null(),
            null_mut(),
        ))?;
        fanin_group_free(group);
    }
    if rank == 0 {
        println!("sum {:.1} {:.1} {:.1}", sum[0], sum[1], sum[2]);
    }
    Ok(())
}
