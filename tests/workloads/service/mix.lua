-- What wrk requests, in turn: 5 of 10 /cart, 3 /search, 2 /orders.
local paths = {
  "/cart?user=ann&add=pears", "/search?q=007", "/cart?user=bob&add=plums", "/orders?order=17",
  "/cart?user=cy&add=figs", "/search?q=042", "/cart?user=dee&add=nuts", "/search?q=1",
  "/cart?user=eve&add=rice", "/orders?order=23",
}
local at = 0
request = function()
  at = at % #paths + 1
  return wrk.format("GET", paths[at])
end
