-- POST a new row; each with an idempotency key of its own.
local path, body, prefix, at = "", "", "", 0
function init(args)
  path, body, prefix = args[1], args[2], args[3]
  wrk.headers["Content-Type"] = "application/json"
  if args[4] then wrk.headers["Authorization"] = "Bearer " .. args[4] end
end
function request()
  at = at + 1
  wrk.headers["X-Idempotency-Key"] = prefix .. at
  return wrk.format("POST", path, nil, body)
end
