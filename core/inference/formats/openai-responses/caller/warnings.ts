// Warnings for what this dialect cannot express of an answer.
import type { Warning } from '../../../canonical/types.ts';

export const CITATION_DROPPED: Warning = {
  code: 'citation_dropped',
  message: 'Citations other than of web pages and files cannot be shown here.',
};
