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
 * KEYS requests of key and plan, tokens of key and plan, running calls of key and plan;
 * ARGV rpm ×2, tpm ×2, concurrency ×2 (empty: none), slot, lease in ms.
 * Returns what refused (`rpm:key`, …; empty: entered), then the four levels, empty where there is no limit.
 */
export const ENTER = `${BUCKETS}
local scope = { 'key', 'plan' }
local levels = { '', '', '', '' }
local refused = ''
for i = 1, 2 do
  local rpm, tpm = tonumber(ARGV[i]), tonumber(ARGV[2 + i])
  if rpm then
    levels[i] = level(KEYS[i], rpm)
    if refused == '' and levels[i] < 1 then refused = 'rpm:' .. scope[i] end
  end
  if tpm then levels[2 + i] = level(KEYS[2 + i], tpm) end
  local running = tonumber(ARGV[4 + i])
  if running and refused == '' then
    redis.call('ZREMRANGEBYSCORE', KEYS[4 + i], '-inf', now)
    if redis.call('ZCARD', KEYS[4 + i]) >= running then refused = 'concurrency:' .. scope[i] end
  end
end
if refused == '' then
  for i = 1, 2 do
    local rpm = tonumber(ARGV[i])
    if rpm then
      levels[i] = levels[i] - 1
      put(KEYS[i], rpm, levels[i])
    end
    redis.call('ZADD', KEYS[4 + i], now + ARGV[8], ARGV[7])
    redis.call('PEXPIRE', KEYS[4 + i], ARGV[8] * 2)
  end
end
for i = 1, 4 do levels[i] = tostring(levels[i]) end
return { refused, levels[1], levels[2], levels[3], levels[4] }
`;

/**
 * KEYS tokens (or requests) of key and plan; ARGV tpm (rpm) ×2 (empty: none), units, 1 to debit whatever is there.
 * Returns what refused (`tpm:key`, …; empty: debited), then both levels.
 */
export const SPEND = `${BUCKETS}
local scope = { 'key', 'plan' }
local levels = { '', '' }
local refused = ''
local tokens = tonumber(ARGV[3])
for i = 1, 2 do
  local tpm = tonumber(ARGV[i])
  if tpm then
    levels[i] = level(KEYS[i], tpm)
    if ARGV[4] ~= '1' and refused == '' and levels[i] < math.min(tokens, tpm) then refused = 'tpm:' .. scope[i] end
  end
end
if refused == '' then
  for i = 1, 2 do
    local tpm = tonumber(ARGV[i])
    if tpm then
      levels[i] = levels[i] - tokens
      put(KEYS[i], tpm, levels[i])
    end
  end
end
return { refused, tostring(levels[1]), tostring(levels[2]) }
`;

/**
 * KEYS as ENTER without the plan's running calls; ARGV rpm ×2, tpm ×2. Returns the four levels and the key's running
 * calls.
 */
export const LOOK = `${BUCKETS}
local levels = { '', '', '', '' }
for i = 1, 4 do
  local limit = tonumber(ARGV[i])
  if limit then levels[i] = level(KEYS[i], limit) end
  levels[i] = tostring(levels[i])
end
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
return { levels[1], levels[2], levels[3], levels[4], redis.call('ZCARD', KEYS[5]) }
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

/** KEYS running calls of key and plan; ARGV lease in ms, slots. Lengthens the leases, also of slots that Redis lost. */
export const RENEW = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
for k = 1, 2 do
  for i = 2, #ARGV do redis.call('ZADD', KEYS[k], now + ARGV[1], ARGV[i]) end
  redis.call('PEXPIRE', KEYS[k], ARGV[1] * 2)
end
return #ARGV - 1
`;
