local NEW = arg[1] == "new"
local function total(t) local s = 0; for i = 1, #t do s = (s * 31 + #t[i]) % 99991 end return s end
local render
if NEW then
  render = function(t) local s = "" ; for i = 1, #t do s = s .. t[i] .. "-" end return s end
else
  render = function(t) local o = {}; for i = 1, #t do o[#o+1] = t[i] end return table.concat(o, "-") end
end
local function serve(t) local n = 0; for _ = 1, 40 do n = n + total(t) end return n + #render(t) end
local t = {}; for i = 1, 300 do t[i] = "word" .. i end
local x = 0
for n = 1, 12000 do x = x + serve(t) end
print(x)
