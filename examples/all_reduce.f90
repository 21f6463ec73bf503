! Each rank gives (rank + 1) times 1 2 3, and rank 0 prints the sum.
program all_reduce
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int32_t) function fanin_join(options, group) bind(c)
      import
      type(c_ptr), value :: options
      type(c_ptr) :: group
    end function
    integer(c_int32_t) function fanin_rank(group, rank) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_int32_t) :: rank
    end function
    integer(c_int32_t) function fanin_all_reduce(group, input, output, n, dtype, options, handle) bind(c)
      import
      type(c_ptr), value :: group, input, output, options, handle
      integer(c_size_t), value :: n
      integer(c_int32_t), value :: dtype
    end function
    subroutine fanin_group_free(group) bind(c)
      import
      type(c_ptr), value :: group
    end subroutine
  end interface

  integer(c_int32_t), parameter :: fanin_float32 = 2
  type(c_ptr) :: group
  integer(c_int32_t) :: rank
  real(c_float), target :: numbers(3) = [1, 2, 3]

  if (fanin_join(c_null_ptr, group) /= 0) error stop "fanin_join"
  if (fanin_rank(group, rank) /= 0) error stop "fanin_rank"
  numbers = numbers * (rank + 1)
  if (fanin_all_reduce(group, c_loc(numbers), c_loc(numbers), 3_c_size_t, fanin_float32, &
                       c_null_ptr, c_null_ptr) /= 0) error stop "fanin_all_reduce"
  if (rank == 0) print '(a,3(1x,f0.1))', 'sum', numbers
  call fanin_group_free(group)
end program
