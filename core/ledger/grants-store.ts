// SQL of credit that was given and ends before its time.
import { type Db, type MicroUsd, nowMs } from '../kernel/index.ts';

/**
 * Books the expiry of all credit of a book that was given and that no hold needs, whatever its end was to be; returns how
 * much. Called again it takes what holds have given back since.
 */
export async function endGrants(db: Db, book_id: number): Promise<MicroUsd> {
  const { rows } = await db.query<{ moved: MicroUsd }>({
    name: 'ledger.end_grants',
    text: 'select ledger.end_grants($1, $2) as moved',
    values: [book_id, new Date(nowMs())],
  });
  return rows[0]!.moved;
}
