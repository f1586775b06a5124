// The context in which the command line calls functions of core: the caller is staff, the database is the given one,
// and there are no services of a running process.
import { type Analytics, openAnalytics } from '@svc/core/analytics/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import { type Context, newRequestId, type Services, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { readClockShift } from '@svc/core/runtime/index.ts';
import { findInstallation, rootKey } from './installation.ts';

/** What reads rows of calls where they are not in the database; opened once, and nothing is asked of it before it is used. */
const own = { row_reader: undefined, row_keeper: undefined };
let opened: Analytics | undefined;

function analytics(): Analytics {
  opened ??= openAnalytics(findInstallation().config);
  return opened;
}

/**
 * Throws for every service but the key ring, which is read where it is asked for. A command that asks for another one has a
 * defect: commands call only what needs none.
 */
const noServices = new Proxy({ ...own } as Services, {
  get(_, name) {
    if (name === 'root_key') return rootKey();
    if (name in own) return analytics().services[name as keyof typeof own];
    throw new Error(`the command line has no ${String(name)}`);
  },
});

/** A staff context on `pool`. From now on this process follows the development clock, as the other programs do. */
export async function staffContext(pool: Pool): Promise<Context> {
  shiftClock(await readClockShift(pool));
  return createContext({
    request_id: newRequestId(),
    caller: { kind: 'staff', name: 'svcctl', staff_id: null, roles: ['super'] },
    pool,
    log: silentLog,
    services: noServices,
  });
}
