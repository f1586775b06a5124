import { type Log, silentLog } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { refusalOf } from './errors.ts';

test.each([8, { a: 1 }, null, 'E_OTHER'])(
  'an error whose code is %j is a defect that is logged once',
  (code) => {
    const logged: object[] = [];
    const log: Log = { ...silentLog, error: (fields) => logged.push(fields) };
    const error = Object.assign(new Error('of some library'), { code });
    expect(refusalOf(error, 'req_1', log).code).toBe('internal');
    expect(logged).toEqual([{ error, request_id: 'req_1' }]);
  },
);
