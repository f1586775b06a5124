// What the API says of a text while it is typed: its faults and notices, and the last text that stood.
import { useCallback, useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { JudgePolicyDocument } from '../../api/gen/tools/graphql.ts';
import type { Remark } from './editor/editor.ts';

interface Verdict {
  readonly text: string;
  readonly valid: boolean;
  readonly remarks: readonly Remark[];
}

/** `good` is the last text without a fault; null until one was judged. */
export function useVerdict(name: string) {
  const client = useClient();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [good, setGood] = useState<string | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const judge = useCallback(
    async (text: string): Promise<readonly Remark[]> => {
      const { data, error } = await client.query(JudgePolicyDocument, { name, yaml: text }).toPromise();
      setFault(error ? faultOfQuery(error) : null);
      const found = data?.policyValidation;
      if (!found) return [];
      const remarks = [
        ...found.faults.map((each) => ({ ...each, severity: 'error' as const })),
        ...found.notices.map((each) => ({ ...each, severity: 'info' as const })),
      ];
      setVerdict({ text, valid: found.valid, remarks });
      if (found.valid) setGood(text);
      return remarks;
    },
    [client, name],
  );
  return { verdict, good, fault, judge };
}
