// Moves a shard to another place while calls go on. Run again after whatever end, it goes on.
import { MAIN, type Pool, type ShardPlaces, serverOfLedger } from '@svc/core/db/index.ts';
import { abortMove, endWithoutOld, moveLedger, type VerifyReport } from '@svc/core/ledger/index.ts';
import { type Command, type Input, type Result, UsageError } from '../../command.ts';
import { withDatabase } from '../../installation.ts';
import { findRecord, getPlace, getShard } from './named.ts';

/** The two places of a move: of the one under way, or of the one that is asked for. */
async function endsOf(pool: Pool, shard: ShardPlaces, to: string) {
  const record = await findRecord(pool, shard.name);
  const placement = pool.shards.placements.find((one) => one.shard === shard.name)!;
  let from = record?.moving_from ?? null;
  if (from === null) {
    await placement.ready();
    from = placement.places.find(({ url }) => url === placement.url)!.name;
  }
  if (from === to) throw new UsageError(`${shard.name} is in ${to}`);
  return { shard: shard.name, from: getPlace(shard, from), to: getPlace(shard, to) };
}

async function abort(pool: Pool, ends: Awaited<ReturnType<typeof endsOf>>): Promise<Result> {
  const record = await findRecord(pool, ends.shard);
  if (record?.step == null) throw new UsageError(`${ends.shard} is not on its way`);
  if (record.moving_to !== ends.to.name)
    throw new UsageError(`${ends.shard} is on its way to ${record.moving_to}`);
  await abortMove({ ...ends, db: pool });
  const { shard, from, to } = ends;
  return {
    json: { shard, place: from.name, aborted: to.name },
    text: `${shard} stays in ${from.name}; ${to.name} is empty`,
  };
}

function judge({ ok, books, entries, meters, findings }: VerifyReport): string[] {
  return [
    ...findings.map(({ book_id, check, message }) => `book ${book_id}: ${check}: ${message}`),
    `${ok ? 'right' : 'NOT RIGHT'}: ${books} books, ${entries} entries, ${meters} metered calls`,
  ];
}

async function endAlone(pool: Pool, ends: Awaited<ReturnType<typeof endsOf>>): Promise<Result> {
  const { shard, from, to } = ends;
  const report = await endWithoutOld({ ...ends, db: pool });
  const lines = [
    `${shard} is in ${to.name}, which had all of ${from.name} when calls waited for the change`,
    ...judge(report),
    `never start the server of ${from.name} again with its data`,
  ];
  return {
    json: { shard, from: from.name, to: to.name, ...report },
    text: lines.join('\n'),
    ok: report.ok,
  };
}

async function move(pool: Pool, ends: Awaited<ReturnType<typeof endsOf>>, input: Input): Promise<Result> {
  const { shard, from, to } = ends;
  const moved = await moveLedger({
    ...ends,
    db: pool,
    source_url: input.find('source-url') ?? from.url,
    freeze_ms_max: input.integer('freeze-ms') ?? 900,
    onStep: (_, words) => void process.stderr.write(`${words}\n`),
  });
  const { frozen_ms, freezes, is_compared, report } = moved;
  const waited =
    frozen_ms === null
      ? 'an earlier run had changed the place'
      : `writers waited ${Math.round(frozen_ms)} ms`;
  const lines = [
    `${shard} is in ${to.name}; ${waited}`,
    ...judge(report),
    `${from.name} is kept as it was left, and nobody can write there: drop it when you have a backup of ${to.name}`,
  ];
  return {
    json: { shard, from: from.name, to: to.name, frozen_ms, freezes, is_compared, ...report },
    text: lines.join('\n'),
    ok: report.ok,
  };
}

export const command: Command = {
  positionals: [{ name: 'NAME', doc: 'the shard', required: true }],
  flags: {
    to: { type: 'text', doc: 'the place, as SVC_LEDGER_SHARDS lists it', value: 'PLACE', required: true },
    abort: { type: 'switch', doc: 'end a move that has not happened yet, and empty the place' },
    'old-is-gone': {
      type: 'switch',
      doc: 'end a move whose old server has gone for good, where the new place has everything',
    },
    'source-url': {
      type: 'text',
      doc: 'address of the present place as the server of the new one reaches it; default: that of the settings',
      value: 'URL',
    },
    'freeze-ms': {
      type: 'integer',
      doc: 'how long calls may wait at most; default: 900',
      min: 50,
      max: 2_500,
    },
  },
  example: 'svcctl shard move a --to a.2',
  async run(input) {
    const shard = getShard(input.positionals[0] as string);
    if (shard.name === MAIN)
      throw new UsageError('main is in the database of the installation and moves with it alone');
    return withDatabase(async (pool) => {
      const ends = await endsOf(pool, shard, input.get('to'));
      if (input.has('abort')) return abort(pool, ends);
      if (input.has('old-is-gone')) return endAlone(pool, ends);
      // What does not answer is for the move to say.
      const server = await serverOfLedger(ends.from.url).catch(() => null);
      if (server !== null)
        throw new UsageError(
          `${shard.name} is at ${server} of a Citus cluster, which moves it: citus_schema_move`,
        );
      return move(pool, ends, input);
    });
  },
};
