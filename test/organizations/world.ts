// An organization with people in it, and the links that mails brought.
import { openColumn } from '@svc/core/kernel/index.ts';
import { type Harness, type HarnessOptions, type Person, startHarness } from '../registry/harness.ts';

export interface World extends Harness {
  /** The token in the newest mail of `template` to `recipient`. */
  linkOf(template: string, recipient: string): Promise<string>;
  /** How many mails of `template` were asked for to `recipient`. */
  mailsTo(template: string, recipient: string): Promise<number>;
  /** What a person stands in an organization as; null for nobody. */
  roleOf(org_id: string, person: Pick<Person, 'id'>): Promise<string | null>;
}

/** Starts everything once per test file. */
export async function startWorld(options: HarnessOptions = {}): Promise<World> {
  const harness = await startHarness(options);
  const { pool, root_key } = harness;
  return {
    ...harness,
    async linkOf(template, recipient) {
      const { rows } = await pool.query<{ id: string; sealed: Buffer }>({
        name: 'test.newest_mail',
        text: `select id, sealed from mail where template = $1 and recipient = $2
                order by created_at desc, id desc limit 1`,
        values: [template, recipient],
      });
      const [mail] = rows;
      if (mail === undefined) throw new Error(`no mail ${template} to ${recipient}`);
      const link = openColumn(root_key, 'mail.sealed', [mail.id], mail.sealed).toString();
      return link.split('#')[1] as string;
    },
    async mailsTo(template, recipient) {
      const { rows } = await pool.query<{ n: number }>({
        name: 'test.count_mails',
        text: 'select count(*)::int as n from mail where template = $1 and recipient = $2',
        values: [template, recipient],
      });
      return rows[0]?.n ?? 0;
    },
    async roleOf(org_id, { id }) {
      const { rows } = await pool.query<{ role: string }>({
        name: 'test.role_of',
        text: `select role from org_member where org_id = $1 and user_id = $2 and status = 'active'`,
        values: [org_id, id],
      });
      return rows[0]?.role ?? null;
    },
  };
}
