// Writes the committed schema files: `node graphql/print.ts`. A test compares them with the code.
import { writeFileSync } from 'node:fs';
import { printStaffSchema } from './staff/schema.ts';
import { printTenantSchema } from './tenant/schema.ts';

writeFileSync(new URL('tenant/schema.graphql', import.meta.url), printTenantSchema());
writeFileSync(new URL('staff/schema.graphql', import.meta.url), printStaffSchema());
