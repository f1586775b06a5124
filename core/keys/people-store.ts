// SQL of the numbers under which calls without a key count.
import type { Db, Environment } from '../kernel/index.ts';

interface Place {
  readonly project_id: string;
  readonly environment: Environment;
}

/** The number of a project; null when it has none yet. */
export async function findPeopleNumber(db: Db, at: Place): Promise<number | null> {
  const { rows } = await db.query<{ key_no: number }>({
    name: 'keys.find_people_number',
    text: 'select key_no from people_key_no where project_id = $1 and environment = $2',
    values: [at.project_id, at.environment],
  });
  return rows[0]?.key_no ?? null;
}

/** Gives a project its number; of two at once the second waits for the first and changes nothing. */
export async function insertPeopleNumber(db: Db, at: Place): Promise<void> {
  await db.query({
    name: 'keys.insert_people_number',
    text: `
      insert into people_key_no (project_id, environment, key_no)
      values ($1, $2, nextval('api_key_no')::int)
      on conflict (project_id, environment) do nothing`,
    values: [at.project_id, at.environment],
  });
}
