// The decisions made in Redis, each as one script, so that no other process comes between check and debit. Time is that
// of the Redis server, so that processes with different clocks agree. Plain Redis 7 commands only. The arithmetic is
// that of `bucket.ts`.

const BUCKETS = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local function level(key, limit)
  local stored = redis.call('HMGET', key, 'level', 'at')
  if not stored[1] then return limit end
  local grown = tonumber(stored[1]) + (now - tonumber(stored[2])) * limit / 60000
  if grown < limit then return grown end
  return limit
end
local function put(key, limit, left)
  if left > limit then left = limit end
  redis.call('HSET', key, 'level', string.format('%.3f', left), 'at', string.format('%.3f', now))
  local full_in = 60000
  if limit > 0 then full_in = (limit - left) * 60000 / limit end
  redis.call('PEXPIRE', key, math.ceil(full_in) + 1000)
end
`;

/**
 * n bounds, the narrowest first. KEYS requests ×n, tokens ×n, running calls ×n;
 * ARGV rpm ×n, tpm ×n, concurrency ×n (empty: none), slot, lease in ms.
 * Returns what refused (`rpm:1` of the first bound, …; empty: entered), then the 2n levels, empty where there is no limit.
 */
export const ENTER = `${BUCKETS}
local n = #KEYS / 3
local slot, lease = ARGV[3 * n + 1], ARGV[3 * n + 2]
local answer = { '' }
for i = 1, n do
  local rpm, tpm = tonumber(ARGV[i]), tonumber(ARGV[n + i])
  local requests, tokens = '', ''
  if rpm then
    requests = level(KEYS[i], rpm)
    if answer[1] == '' and requests < 1 then answer[1] = 'rpm:' .. i end
  end
  if tpm then tokens = level(KEYS[n + i], tpm) end
  local running = tonumber(ARGV[2 * n + i])
  if running and answer[1] == '' then
    redis.call('ZREMRANGEBYSCORE', KEYS[2 * n + i], '-inf', now)
    if redis.call('ZCARD', KEYS[2 * n + i]) >= running then answer[1] = 'concurrency:' .. i end
  end
  answer[1 + i], answer[1 + n + i] = requests, tokens
end
if answer[1] == '' then
  for i = 1, n do
    local rpm = tonumber(ARGV[i])
    if rpm then
      answer[1 + i] = answer[1 + i] - 1
      put(KEYS[i], rpm, answer[1 + i])
    end
    redis.call('ZADD', KEYS[2 * n + i], now + lease, slot)
    redis.call('PEXPIRE', KEYS[2 * n + i], lease * 2)
  end
end
for i = 2, 2 * n + 1 do answer[i] = tostring(answer[i]) end
return answer
`;

/**
 * KEYS tokens (or requests) of each of n bounds; ARGV tpm (rpm) ×n (empty: none), units, 1 to debit whatever is there.
 * Returns what refused (`tpm:1`, …; empty: debited), then the n levels.
 */
export const SPEND = `${BUCKETS}
local n = #KEYS
local units, whatever = tonumber(ARGV[n + 1]), ARGV[n + 2] == '1'
local answer = { '' }
for i = 1, n do
  local limit = tonumber(ARGV[i])
  answer[1 + i] = ''
  if limit then
    answer[1 + i] = level(KEYS[i], limit)
    if not whatever and answer[1] == '' and answer[1 + i] < math.min(units, limit) then answer[1] = 'tpm:' .. i end
  end
end
if answer[1] == '' then
  for i = 1, n do
    local limit = tonumber(ARGV[i])
    if limit then
      answer[1 + i] = answer[1 + i] - units
      put(KEYS[i], limit, answer[1 + i])
    end
  end
end
for i = 2, n + 1 do answer[i] = tostring(answer[i]) end
return answer
`;

/**
 * KEYS requests ×n, tokens ×n, running calls of the first of n bounds; ARGV rpm ×n, tpm ×n. Returns the 2n levels and
 * the running calls.
 */
export const LOOK = `${BUCKETS}
local answer = {}
for i = 1, #KEYS - 1 do
  local limit = tonumber(ARGV[i])
  answer[i] = ''
  if limit then answer[i] = tostring(level(KEYS[i], limit)) end
end
redis.call('ZREMRANGEBYSCORE', KEYS[#KEYS], '-inf', now)
answer[#KEYS] = redis.call('ZCARD', KEYS[#KEYS])
return answer
`;

/** KEYS the processes; ARGV this process, life in ms. Returns how many processes are alive, this one included. */
export const BEAT = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
return redis.call('ZCARD', KEYS[1])
`;

/** KEYS running calls of each bound; ARGV lease in ms, slots. Lengthens the leases, also of slots that Redis lost. */
export const RENEW = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
for k = 1, #KEYS do
  for i = 2, #ARGV do redis.call('ZADD', KEYS[k], now + ARGV[1], ARGV[i]) end
  redis.call('PEXPIRE', KEYS[k], ARGV[1] * 2)
end
return #ARGV - 1
`;
