// Business settings: values that staff change while programs run, one row each.
import type { Db } from '../kernel/index.ts';

/** The value of setting `name`, or null when staff have not set it; the reader merges it over its defaults. */
export async function readSetting<T>(db: Db, name: string): Promise<T | null> {
  const { rows } = await db.query<{ value: T }>({
    name: 'db.read_setting',
    text: 'select value from settings where name = $1',
    values: [name],
  });
  return rows[0]?.value ?? null;
}

/** Sets `name` to `value` for every program, from their next read on. */
export async function writeSetting(
  db: Db,
  setting: { readonly name: string; readonly value: unknown; readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'db.write_setting',
    text: `
      insert into settings (name, value, updated_at) values ($1, $2, $3)
      on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at`,
    values: [setting.name, JSON.stringify(setting.value), setting.at],
  });
}
