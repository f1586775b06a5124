// Trying redaction out. The sample is held in the state of the page alone, and the server stores nothing of it.
import { useState } from 'react';
import { PreviewRedactionDocument } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { faultsOf, type Policy, presetNames } from './policy.ts';

export interface Tried {
  readonly redact: Policy['redact'];
  readonly sample: string;
  readonly output: string;
  readonly redactions: number;
}

export function usePreview() {
  const { send, busy, fault } = useSend();
  const [asked, setAsked] = useState<Policy['redact'] | null>(null);
  const [tried, setTried] = useState<Tried | null>(null);
  const run = async (sample: string, redact: Policy['redact']) => {
    setAsked(redact);
    setTried(null);
    const { presets, patterns } = redact;
    const input = { presets: presetNames(presets), patterns: [...patterns], sample };
    const done = await send(PreviewRedactionDocument, input);
    if (done !== null) setTried({ redact, sample, ...done.preview });
  };
  const of_pattern = fault === null ? null : (faultsOf(fault, asked?.patterns ?? [])?.patterns ?? null);
  return { run, busy, fault, of_pattern, tried };
}
