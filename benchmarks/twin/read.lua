-- GET one of many rows; addresses come from a file, one per line.
local paths, at = {}, 0
function init(args)
  for line in io.lines(args[1]) do paths[#paths + 1] = line end
  if args[2] then wrk.headers["Authorization"] = "Bearer " .. args[2] end
  math.randomseed(tonumber(args[3] or "1"))
end
function request()
  at = at % #paths + 1
  return wrk.format("GET", paths[at])
end
