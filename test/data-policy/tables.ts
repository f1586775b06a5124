// Which tables know an organization: each must have a fate in an erasure and in an export.
import type { Pool } from '@svc/core/db/index.ts';

/** Every table with a column `org_id`, partitions left out; `book` is that of each ledger. */
export async function tablesOfOrgs(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'test.tables_of_orgs',
    text: `
      select case table_schema when 'public' then table_name else table_schema || '.' || table_name end as name
        from information_schema.columns c join pg_class t on t.relname = c.table_name
         and t.relnamespace = c.table_schema::regnamespace
       where column_name = 'org_id' and table_schema in ('public', 'ledger') and t.relkind in ('r', 'p')
         and not t.relispartition order by 1`,
  });
  return rows.map(({ name }) => (name === 'ledger.book' ? 'book' : name));
}
