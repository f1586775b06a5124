// Writes docs/compatibility.md anew: `node test/fidelity/write.ts`.
import { writeFileSync } from 'node:fs';
import { PAGE, pageText } from './page.ts';

writeFileSync(PAGE, pageText());
