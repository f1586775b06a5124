// Migrates the database, and every further ledger, to this release.
import { MAIN, migrate, migrateLedger } from '@svc/core/db/index.ts';
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

export const command: Command = {
  async run() {
    const { applied, newer } = await migrate(databaseUrl());
    const all = { applied: [...applied], newer: [...newer] };
    await refuseWhileMoving();
    for (const { name, url } of ledgerPlaces().flatMap(({ places }) => places)) {
      if (name === MAIN) continue;
      const done = await migrateLedger(url);
      all.applied.push(...done.applied.map((one) => `${one} of ${name}`));
      all.newer.push(...done.newer.map((one) => `${one} of ${name}`));
    }
    const texts = await withDatabase(async (pool) => takeShipped(await staffContext(pool)));
    const lines = [
      ...texts.map((name) => `took in the legal text ${name}`),
      ...all.applied.map((name) => `applied ${name}`),
      ...all.newer.map((name) => `warning: of a later release, compatible with this one: ${name}`),
    ];
    return { json: { ...all, texts }, text: lines.length === 0 ? 'up to date' : lines.join('\n') };
  },
};
