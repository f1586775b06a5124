// Every feature of the matrix, in the order of the page.
import type { Group } from '../types.ts';
import { account } from './account.ts';
import { media } from './media.ts';
import { messages } from './messages.ts';
import { output } from './output.ts';
import { cache, reasoning } from './reasoning.ts';
import { samplingGroup } from './sampling.ts';
import { toolGroup } from './tools.ts';

export const groups: readonly Group[] = [
  ...[messages, media, toolGroup, reasoning, cache, output, samplingGroup, account],
];
