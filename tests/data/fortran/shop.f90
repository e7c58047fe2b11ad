module shop
contains
 real(8) function interest(n) result(r)
  integer, intent(in) :: n
  integer :: i, k
  r = 0
  do k = 1, ROUNDS
   do i = 1, n
    r = r + sqrt(real(i+k,8)) / (1 + mod(i,7))
   end do
  end do
 end function
 integer(8) function digest(n) result(h)
  integer, intent(in) :: n
  integer :: i
  h = 17
  do i = 1, n
   h = ieor(h*31, int(i,8))
  end do
 end function
 real(8) function serve(n) result(r)
  integer, intent(in) :: n
  r = interest(n) + digest(n*3)
 end function
end module
program main
 use shop
 integer(8) :: t0, t1, rate, done
 real(8) :: s
 s = 0; done = 0
 call system_clock(t0, rate)
 do
  s = s + serve(2000)
  done = done + 1
  if (mod(done,100)==0) then
   call system_clock(t1)
   if (t1-t0 > 5*rate) exit
  end if
 end do
 print *, done, s
end program
