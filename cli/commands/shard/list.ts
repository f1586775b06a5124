// Every ledger: where it is, how much is in it and whether it answers.
import type { ShardPlaces } from '@svc/core/db/index.ts';
import { ledgerSchemaOf } from '@svc/core/db/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { openPlace, readLeft, readLoad, readRecords, readSizes } from '@svc/core/ledger/index.ts';
import type { Command } from '../../command.ts';
import { ledgerPlaces, withDatabase } from '../../installation.ts';
import { masked } from './named.ts';

const HOUR_MS = 3_600_000;

interface PlaceRow {
  readonly place: string;
  readonly address: string;
  readonly schema: string;
  readonly state: 'here' | 'left' | 'other' | 'away';
  readonly books: number | null;
  readonly bytes: number | null;
  /** Why it is away. */
  readonly fault: string | null;
}

/** What is found at a place. `other`: a place that the ledger is not in, and has not left. */
async function look(place: string, url: string, is_current: boolean): Promise<PlaceRow> {
  const about = { place, address: masked(url), schema: ledgerSchemaOf(url) };
  try {
    const opened = await openPlace(url);
    try {
      const left = await readLeft(opened);
      const here = is_current ? 'here' : 'other';
      return { ...about, state: left === null ? here : 'left', ...(await readSizes(opened)), fault: null };
    } finally {
      await opened.end();
    }
  } catch (error) {
    return { ...about, state: 'away', books: null, bytes: null, fault: (error as Error).message };
  }
}

async function listShards(all: readonly ShardPlaces[]) {
  return withDatabase(async (pool) => {
    const records = await readRecords(pool);
    const [hour, day] = await Promise.all([
      readLoad(pool, new Date(now().getTime() - HOUR_MS)),
      readLoad(pool, new Date(now().getTime() - 24 * HOUR_MS)),
    ]);
    return Promise.all(
      all.map(async ({ name, places }) => {
        const record = records.find((one) => one.name === name);
        const current = record?.place ?? name;
        const rows = await Promise.all(places.map((one) => look(one.name, one.url, one.name === current)));
        return {
          shard: name,
          is_open: pool.shards.open.includes(name) && record?.is_open !== false,
          moving_to: record?.moving_to ?? null,
          step: record?.step ?? null,
          calls_hour: hour.get(name) ?? null,
          calls_day: day.get(name) ?? null,
          places: rows,
        };
      }),
    );
  });
}

function sizeOf(bytes: number | null): string {
  return bytes === null ? '-' : `${(bytes / 1024 ** 2).toFixed(bytes < 1024 ** 3 ? 1 : 0)} MiB`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const command: Command = {
  example: 'svcctl shard list',
  async run() {
    const shards = await listShards(ledgerPlaces());
    const heads = [
      'shard',
      'new orgs',
      'calls/h',
      'calls/day',
      'place',
      'state',
      'books',
      'size',
      'address',
      'schema',
    ];
    const lines = shards.flatMap((shard) =>
      shard.places.map((place, i) => [
        ...(i > 0
          ? ['', '', '', '']
          : [
              shard.shard,
              shard.is_open ? 'yes' : 'no',
              String(shard.calls_hour ?? '-'),
              String(shard.calls_day ?? '-'),
            ]),
        ...[place.place, place.place === shard.moving_to ? `${shard.step}` : place.state],
        ...[String(place.books ?? '-'), sizeOf(place.bytes), place.address, place.schema],
      ]),
    );
    const faults = shards.flatMap(({ places }) =>
      places.flatMap(({ place, fault }) => (fault === null ? [] : [`${place}: ${fault}`])),
    );
    // A place that a ledger does not use may well be away.
    const ok = shards.every(({ places }) => places.some(({ state }) => state === 'here'));
    return { json: { shards }, text: [table([heads, ...lines]), ...faults].join('\n'), ok };
  },
};
