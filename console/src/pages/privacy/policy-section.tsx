// The data policy and, beside it, redaction tried out with the policy as it is typed.
import { useState } from 'react';
import { UpdateDataPolicyDocument } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import {
  changeOf,
  type Draft,
  draftOf,
  effectsOf,
  faultsOf,
  hasLineBreaks,
  type Policy,
  policyOf,
  readDraft,
  redactionOf,
} from './policy.ts';
import { PolicyCard } from './policy-card.tsx';
import { PreviewCard } from './preview-card.tsx';
import { usePreview } from './use-preview.ts';

/** The form: what is saved, what is typed, and sending the difference. */
function usePolicy(id: string, first: Policy) {
  const { send, busy, fault, setFault } = useSend();
  const [policy, setPolicy] = useState(first);
  const [draft, setDraft] = useState(() => draftOf(first));
  // Of the patterns that were sent a refusal names one by its number.
  const [sent, setSent] = useState<readonly string[]>([]);
  const [bad_days, setBadDays] = useState(false);
  const [said, setSaid] = useState('');
  const next = readDraft(draft, policy);
  const save = async () => {
    setFault(null);
    setSaid('');
    setBadDays(next === null);
    if (next === null) return;
    const dataPolicy = changeOf(policy, next);
    if (dataPolicy === null) return setSaid('Nothing was changed.');
    setSent(next.redact.patterns);
    const done = await send(UpdateDataPolicyDocument, { id, dataPolicy });
    if (done === null) return;
    const saved = policyOf(done.org.dataPolicy);
    setPolicy(saved);
    setDraft(draftOf(saved));
    setSaid('Saved. Every gateway follows within a second.');
  };
  const type = (draft: Draft) => {
    setDraft(draft);
    setSaid('');
  };
  const at_field = fault === null ? null : faultsOf(fault, sent);
  const days = bad_days && next === null ? { days: 'A whole number from 0 to 365.' } : null;
  return {
    ...{ policy, draft, next, type, save, busy, said },
    faults: { ...at_field, ...days },
    fault: at_field === null ? fault : null,
  };
}

export function PolicySection({ id, first, locked }: { id: string; first: Policy; locked: boolean }) {
  const { policy, draft, next, type, save, busy, fault, faults, said } = usePolicy(id, first);
  const preview = usePreview();
  const of_pattern = preview.of_pattern === null ? null : { patterns: preview.of_pattern };
  return (
    <div className="split">
      <PolicyCard
        form={{ draft, onDraft: type, locked, faults: { ...of_pattern, ...faults } }}
        odd={hasLineBreaks(policy)}
        effects={next === null ? [] : effectsOf(policy, next)}
        {...{ busy, fault, said }}
        onSave={() => void save()}
      />
      <PreviewCard redact={redactionOf(draft, policy)} preview={preview} />
    </div>
  );
}
