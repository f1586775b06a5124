// Ends of a move other than its own: it is called off, or the server of the old place has gone for good.
import { type Db, now } from '../../kernel/index.ts';
import { type VerifyReport, verifyLedger } from '../verify/verify.ts';
import { lockAlone, type MoveEnds, MoveRefused } from './check.ts';
import { emptyPlace, openPlace, readLeft } from './place-store.ts';
import { endMove, noteMoved, readRecords } from './record-store.ts';
import { callOff, dropPublication, dropSubscription, isWhole, replicationName } from './replication-store.ts';

interface EndOptions extends MoveEnds {
  /** The installation's own database. */
  readonly db: Db;
}

/** Ends a move that has not happened yet and empties the new place. @throws MoveRefused when it has happened. */
export async function abortMove({ db, shard, from, to }: EndOptions): Promise<void> {
  const source = await openPlace(from.url).catch(() => null);
  if (source === null)
    throw new MoveRefused(`${from.name} does not answer, so nobody can say whether it was left`);
  await using _source = { [Symbol.asyncDispose]: () => source.end() };
  const target = await openPlace(to.url);
  await using _target = { [Symbol.asyncDispose]: () => target.end() };
  if ((await readLeft(source)) !== null)
    throw new MoveRefused(`the ledger is in ${to.name} already: run the move again to end it`);
  await lockAlone(source, shard);
  const name = replicationName({ shard, from, to });
  await callOff(source, target, name);
  await dropPublication(source, name);
  await emptyPlace(target);
  await endMove(db, shard);
}

/**
 * Ends a move whose old server has gone for good, and would else be asked where the ledger is: in the new place, if that has
 * everything. @throws MoveRefused when nothing says so, or the old place answers.
 */
export async function endWithoutOld({ db, shard, from, to }: EndOptions): Promise<VerifyReport> {
  const source = await openPlace(from.url).catch(() => null);
  await source?.end();
  if (source !== null)
    throw new MoveRefused(`${from.name} answers, so it has not gone: run the move without --old-is-gone`);
  const record = (await readRecords(db)).find(({ name }) => name === shard);
  if (record?.moving_to !== to.name) throw new MoveRefused(`${shard} is not on its way to ${to.name}`);
  const target = await openPlace(to.url);
  await using _target = { [Symbol.asyncDispose]: () => target.end() };
  const name = replicationName({ shard, from, to });
  if (record.step !== 'moved' && !(await isWhole(target, name)))
    throw new MoveRefused(
      `${to.name} has no whole copy: the ledger is in ${from.name}, whose server must come back, from a standby or a backup`,
    );
  await noteMoved(db, { shard, at: now() });
  await dropSubscription(target, name);
  const report = await verifyLedger({ url: to.url });
  await endMove(db, shard);
  return report;
}
