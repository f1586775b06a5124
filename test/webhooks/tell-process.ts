// A program that tells organizations of what the catalog noted, once, and says how many events that were: made to be killed.
import { createPool } from '@svc/core/db/index.ts';
import { readConfig } from '@svc/core/kernel/index.ts';
import { tellOfModels } from '@svc/core/model-news/index.ts';

const pool = createPool(readConfig().database_url as string, { max: 2, role: 'svc_runtime' });
process.stdout.write(`told ${await tellOfModels(pool)}\n`);
await pool.end();
