// Rows of calls made by the engines themselves: the same number in both, spread over thirty days and forty organizations, of
// which the largest has three in ten. Each organization has twenty keys, a key belongs to a project and an app, and a model to a
// provider, so that an hour has at most 600 sums. Twenty calls that follow one another are a session of half an hour; end users are drawn
// for each call by itself, so that as many of them as can be have calls on each day.
import type { ClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import type { Pool } from '@svc/core/db/index.ts';

export const DAYS = 30;
const SESSION_CALLS = 20;
const SESSION_MS = 1_800_000;
export const LARGEST = 'org_00000000000000000000000000';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The time part of a ULID as an SQL expression: ten digits of five bits, \`digit(shift)\` each. */
const timePart = (digit: (shift: number) => string, join: string) =>
  [45, 40, 35, 30, 25, 20, 15, 10, 5, 0].map(digit).join(join);

/** Fills ClickHouse with \`count\` rows from number \`from\` on, that began before \`until\`. */
export async function fillClickHouse(
  db: ClickHouse,
  { from, count, until }: { from: number; count: number; until: Date },
): Promise<void> {
  const digit = (shift: number) => `substring('${ALPHABET}', 1 + bitAnd(bitShiftRight(ms, ${shift}), 31), 1)`;
  const pick = (salt: number, below: number) => `(cityHash64(number, ${salt}) % ${below})`;
  const session = `intDiv(number, ${SESSION_CALLS})`;
  await db.run({
    name: 'bench.fill',
    text: `
      insert into request_row (request_id, ts, org_id, environment, project_id, key_id, model, provider, endpoint_id, region,
                               status, http_status, stop_reason, attempts, input_tokens, output_tokens, cache_read_tokens,
                               usage_source, cost_micro, ttft_ms, duration_ms, app_id, user_hash, session_id, tags, user_agent,
                               warnings, rank, stored_at)
      with ${until.getTime()} - cityHash64(${session}, 1) % ${DAYS * 86_400_000 - SESSION_MS} - ${pick(1, SESSION_MS)} as ms,
           toUInt8(40 * pow(cityHash64(${session}, 2) / 18446744073709551616, 3)) as org
      select concat(${timePart(digit, ', ')}, leftPad(toString(number), 16, '0')), fromUnixTimestamp64Milli(toInt64(ms), 'UTC'),
             concat('org_', leftPad(toString(org), 26, '0')), 'live', concat('prj_', toString(${pick(4, 20)} % 5)),
             concat('key_', toString(${pick(4, 20)})), concat('acme/m-', toString(${pick(5, 30)})),
             concat('provider-', toString(${pick(5, 30)} % 8)), concat('ep_', toString(${pick(5, 30)})), 'eu-west',
             if(${pick(8, 50)} = 0, 'error', 'ok'), 200, 'end_turn', 1, ${pick(9, 5000)}, ${pick(10, 900)}, ${pick(11, 300)},
             'provider', ${pick(12, 60_000)}, ${pick(13, 900)} / 3, ${pick(14, 9000)} / 3, concat('app-', toString(${pick(4, 20)} % 12)),
             concat('u', toString(${pick(16, 20_000)})), concat('run-', toString(${session})), map('team', concat('t', toString(${pick(17, 40)}))), 'bench', '[]', 3,
             fromUnixTimestamp64Milli(toInt64(ms) + 900, 'UTC')
        from numbers(${from}, ${count})`,
  });
}

/** The same for PostgreSQL. */
export async function fillPostgres(
  pool: Pool,
  { from, count, until }: { from: number; count: number; until: Date },
): Promise<void> {
  const digit = (shift: number) => `substr('${ALPHABET}', 1 + ((ms >> ${shift}) & 31)::int, 1)`;
  await pool.query({
    name: 'bench.fill',
    text: `
      insert into request_row (request_id, ts, org_id, environment, project_id, key_id, model, provider, endpoint_id, region,
                               status, http_status, error_code, stop_reason, attempts, input_tokens, output_tokens,
                               cache_read_tokens, cache_write_tokens, reasoning_tokens, usage_source, cost_micro, ttft_ms,
                               duration_ms, stream, byok, zdr, logged, app_id, user_hash, session_id, cell, dialect_in, upstream_model,
                               price_version_id, bytes_in, bytes_out, tool_calls, has_images, has_tools, has_schema, tags,
                               user_agent, client_ip_prefix, warnings, stored_at)
      select ${timePart(digit, ' || ')} || lpad(number::text, 16, '0'), to_timestamp(ms / 1000.0),
             'org_' || lpad(org::text, 26, '0'), 'live', 'prj_' || key % 5,
             'key_' || key, 'acme/m-' || model, 'provider-' || model % 8,
             'ep_' || model, 'eu-west', case when random() < 0.02 then 'error' else 'ok' end, 200, '', 'end_turn', 1,
             floor(random() * 5000), floor(random() * 900), floor(random() * 300), 0, 0, 'provider', floor(random() * 60000),
             random() * 300, random() * 3000, true, false, false, false, 'app-' || key % 12,
             'u' || floor(random() * 20000), 'run-' || session, '', 'chat', '', '', 0, 0, 0, false, false, false,
             jsonb_build_object('team', 't' || floor(random() * 40)), 'bench', '', '[]', to_timestamp(ms / 1000.0)
        from (select session, number, org, began - floor(random() * ${SESSION_MS})::bigint as ms, floor(random() * 20)::int as key,
                     floor(random() * 30)::int as model
                from (select session, floor(40 * power(random(), 3)) as org,
                             $3::bigint - floor(random() * ${DAYS * 86_400_000 - SESSION_MS})::bigint as began
                        from generate_series($1::bigint / ${SESSION_CALLS}, ($1::bigint + $2::bigint - 1) / ${SESSION_CALLS}) as session) as run
               cross join lateral generate_series(greatest($1::bigint, session * ${SESSION_CALLS}),
                                                  least($1::bigint + $2::bigint, (session + 1) * ${SESSION_CALLS}) - 1) as number) as call`,
    values: [from, count, until.getTime()],
  });
}
