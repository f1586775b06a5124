// An organization with people in it, and legal texts that hold it.
import { writeSetting } from '@svc/core/db/index.ts';
import { takeShipped } from '@svc/core/legal/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { startWorld, type World } from '../organizations/world.ts';
import type { HarnessOptions } from '../registry/harness.ts';

export interface LegalWorld extends World {
  readonly staff: ReturnType<typeof createContext>;
  /** Lets acceptances that are owed have effects from `at` on, as `svcctl legal set --insist on` does. */
  insist(at?: Date): Promise<void>;
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Starts everything once per test file; the texts of the release are there, as after `svcctl migrate`. */
export async function startLegalWorld(options: HarnessOptions = {}): Promise<LegalWorld> {
  const world = await startWorld(options);
  const { pool } = world;
  const staff = createContext({
    ...{ request_id: world.context.request_id, pool, log: world.context.log, services: {} as never },
    caller: { kind: 'staff', name: 'ann@svc.example', staff_id: null, roles: ['compliance'] },
  });
  await takeShipped(staff);
  return {
    ...world,
    staff,
    async insist(at = new Date()) {
      const value = { grievance_officer: 'Officer', dpo_email: 'dpo@svc.example', enforced_at: at };
      await writeSetting(pool, { name: 'legal', value, at });
    },
    async rows<Row>(text: string, values: readonly unknown[] = []) {
      return (await pool.query<Row>({ name: '', text, values })).rows;
    },
  };
}

export const DAY_MS = 86_400_000;
