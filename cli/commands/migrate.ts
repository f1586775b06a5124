// Migrates the database, and every further ledger, to this release.
import { MAIN, migrate, migrateLedger, spreadLedger } from '@svc/core/db/index.ts';
import { readRecords } from '@svc/core/ledger/index.ts';
import { takeShipped } from '@svc/core/legal/index.ts';
import { type Command, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { databaseUrl, ledgerPlaces, withDatabase } from '../installation.ts';

/** Both places of a move have the same tables until it has ended. @throws UsageError while one is under way. */
async function refuseWhileMoving(): Promise<void> {
  const moving = (await withDatabase((pool) => readRecords(pool))).find(({ step }) => step !== null);
  if (moving === undefined) return;
  throw new UsageError(
    `${moving.name} is on its way to ${moving.moving_to}: the installation is migrated, its further ledgers are not; ` +
      'run this again when svcctl shard move has ended',
  );
}

/** Which server the ledger was put at; null where it was at one. @throws UsageError where its database is of no cluster. */
async function spreadNamed(name: string, url: string): Promise<string | null> {
  try {
    return await spreadLedger(url);
  } catch (error) {
    throw new UsageError(`--citus: the ledger ${name}: ${(error as Error).message}`);
  }
}

export const command: Command = {
  flags: {
    citus: {
      type: 'switch',
      doc: 'further ledgers are schemas of a Citus cluster: each is put at one of its servers',
    },
  },
  async run(input) {
    const further = ledgerPlaces()
      .flatMap(({ places }) => places)
      .filter(({ name }) => name !== MAIN);
    if (input.has('citus') && further.length === 0)
      throw new UsageError('--citus puts further ledgers at servers; SVC_LEDGER_SHARDS names none');
    const { applied, newer } = await migrate(databaseUrl());
    const all = { applied: [...applied], newer: [...newer] };
    await refuseWhileMoving();
    const spread: { name: string; server: string }[] = [];
    for (const { name, url } of further) {
      const done = await migrateLedger(url);
      all.applied.push(...done.applied.map((one) => `${one} of ${name}`));
      all.newer.push(...done.newer.map((one) => `${one} of ${name}`));
      const server = input.has('citus') ? await spreadNamed(name, url) : null;
      if (server !== null) spread.push({ name, server });
    }
    const texts = await withDatabase(async (pool) => takeShipped(await staffContext(pool)));
    const lines = [
      ...texts.map((name) => `took in the legal text ${name}`),
      ...all.applied.map((name) => `applied ${name}`),
      ...spread.map(({ name, server }) => `the ledger ${name} is at ${server}`),
      ...all.newer.map((name) => `warning: of a later release, compatible with this one: ${name}`),
    ];
    return { json: { ...all, spread, texts }, text: lines.length === 0 ? 'up to date' : lines.join('\n') };
  },
};
