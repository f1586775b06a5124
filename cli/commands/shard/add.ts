// Makes a ledger, or a place for one, at an address that SVC_LEDGER_SHARDS lists, and checks that programs can use it.
import { MAIN, migrateLedger } from '@svc/core/db/index.ts';
import { checkPlace, openPlace, readLeft } from '@svc/core/ledger/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { ledgerPlaces } from '../../installation.ts';
import { masked } from './named.ts';

export const command: Command = {
  positionals: [
    {
      name: 'NAME',
      doc: 'as SVC_LEDGER_SHARDS lists it: a shard (c), or a further place of one (a.2)',
      required: true,
    },
  ],
  example: 'svcctl shard add a.2',
  async run(input) {
    const name = input.positionals[0] as string;
    const all = ledgerPlaces().flatMap(({ places }) => places);
    const found = all.find((one) => one.name === name && name !== MAIN);
    if (found === undefined)
      throw new UsageError(
        `SVC_LEDGER_SHARDS does not list ${name}: put ${name}=postgres://… into it, in the settings of this command now and in ` +
          'those of all programs before you use it',
      );
    const { applied } = await migrateLedger(found.url);
    const place = await openPlace(found.url);
    try {
      if ((await readLeft(place)) !== null)
        throw new UsageError(`${name} was left by its ledger: drop its schema first`);
      const faults = await checkPlace(place);
      const is_place = name.includes('.');
      const next = is_place
        ? `list it in SVC_LEDGER_SHARDS of all programs, restart them, then: svcctl shard move ${name.split('.')[0]} --to ${name}`
        : 'list it in SVC_LEDGER_SHARDS of all programs and restart them; new organizations come to it then';
      const lines = [
        ...applied.map((one) => `applied ${one}`),
        ...faults.map((fault) => `NOT RIGHT: ${fault}`),
        ...(faults.length === 0 ? [`${name} is ready at ${masked(found.url)}`, next] : []),
      ];
      return { json: { name, applied, faults }, text: lines.join('\n'), ok: faults.length === 0 };
    } finally {
      await place.end();
    }
  },
};
