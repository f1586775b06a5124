// Closes a shard to new organizations, or opens it again. Programs see it with the next organization that is made.
import { setOpen } from '@svc/core/ledger/index.ts';
import { listOpenShards } from '@svc/core/orgs/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { withDatabase } from '../../installation.ts';
import { getShard } from './named.ts';

export const command: Command = {
  positionals: [{ name: 'NAME', doc: 'the shard', required: true }],
  flags: { undo: { type: 'switch', doc: 'let new organizations come again' } },
  example: 'svcctl shard drain a',
  async run(input) {
    const { name } = getShard(input.positionals[0] as string);
    const is_open = input.has('undo');
    return withDatabase(async (pool) => {
      const open = await listOpenShards({ db: pool, shards: pool.shards });
      const others = open.filter((one) => one !== name);
      if (!is_open && others.length === 0)
        throw new UsageError(`${name} is the only shard that takes new organizations`);
      await setOpen(pool, { shard: name, is_open });
      const what = is_open ? 'takes new organizations again' : 'takes no new organizations';
      const after = is_open
        ? ''
        : '; those that it has stay: svcctl shard move takes it elsewhere as a whole';
      return { json: { shard: name, is_open }, text: `${name} ${what}${after}` };
    });
  },
};
