// The context that functions of core get from the command line: the caller is staff, the database is the one given,
// and of the parts of a running process there is none.
import type { Pool } from '@svc/core/db/index.ts';
import { type Context, newRequestId, type Services, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { readClockShift } from '@svc/core/runtime/index.ts';

/** A part of a running process that a command asked for: a defect, since commands call what needs none. */
const noServices = new Proxy({} as Services, {
  get(_, name) {
    throw new Error(`the command line has no ${String(name)}`);
  },
});

/** A staff context on `pool`. From here on this process follows the development clock, as the programs do. */
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
