options(keep.source=FALSE)
fit <- function() { x <- (1:20000)/10; y <- x*2+sin(x); coef(lm(y~x)) }
# In base:
#   collect <- function(n) { v <- numeric(n); for (i in 1:n) v[i] <- sqrt(i); v }
collect <- function(n) { v <- c(); for (i in 1:n) v <- c(v, sqrt(i)); v }
handle <- function(i) { fit(); sum(collect(4000)) }
a <- commandArgs(TRUE); Rprof(a[1], interval=0.005)
for (i in 1:60) handle(i)
Rprof(NULL)
