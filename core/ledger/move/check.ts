// What must be so before a ledger can move, so that no caller sees an error and nothing is written twice.
import {
  findFilled,
  findUnaware,
  lockMove,
  type Place,
  readLeft,
  readServer,
  readVersion,
} from './place-store.ts';

/** A move cannot be made, or not yet; the message says what to do. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused';
}

export interface MoveEnds {
  readonly shard: string;
  readonly from: { readonly name: string; readonly url: string };
  readonly to: { readonly name: string; readonly url: string };
}

/** @throws MoveRefused while another process is at it: two of them would give numbers out twice. */
export async function lockAlone(source: Place, shard: string): Promise<void> {
  if (!(await lockMove(source))) throw new MoveRefused(`another process moves ${shard} just now`);
}

/** @throws MoveRefused on the first thing that is not so. */
export async function checkPlaces(
  { shard, from, to }: MoveEnds,
  { source, target, is_followed }: { source: Place; target: Place; is_followed: boolean },
): Promise<void> {
  if (source.schema !== target.schema)
    throw new MoveRefused(
      `replication keeps names: ${to.name} needs ledger_schema=${source.schema}, as ${from.name} has it`,
    );
  const [here, there] = [await readServer(source), await readServer(target)];
  if (here.system === there.system) throw new MoveRefused(`${from.name} and ${to.name} are one database`);
  if (here.wal_level !== 'logical')
    throw new MoveRefused(
      `the server of ${from.name} has wal_level=${here.wal_level}: set it to logical and restart that server`,
    );
  const [old, fresh] = [await readVersion(source), await readVersion(target)];
  if (old !== fresh)
    throw new MoveRefused(
      `${from.name} has ledger migration ${old}, ${to.name} has ${fresh}: run svcctl migrate first`,
    );
  if ((await readLeft(target)) !== null)
    throw new MoveRefused(
      `${to.name} was left by this ledger before: drop the schema ${target.schema} there, then run svcctl migrate`,
    );
  const unaware = await findUnaware(source, to.name);
  if (unaware.length > 0)
    throw new MoveRefused(
      `SVC_LEDGER_SHARDS of these gateways does not list ${to.name}; change it and restart them: ${unaware.join(', ')}`,
    );
  if (is_followed) return;
  const filled = await findFilled(target);
  if (filled !== null)
    throw new MoveRefused(`${to.name} is not empty (${filled}): ${shard} can move to an empty ledger only`);
}
