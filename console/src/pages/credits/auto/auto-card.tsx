// Automatic top-up on the page of credits: what is set, what happens next, and what can be done about it.
import { useCallback, useEffect, useState } from 'react';
import { useQuery } from 'urql';
import {
  AutoTopupDocument,
  type AutoTopupFactsFragment,
  CancelMandateDocument,
  CreateMandateDocument,
  ResumeMandateDocument,
  SetAutoTopupDocument,
  SkipAutoTopupDocument,
} from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { currencyText } from '../../../ui/format/money.ts';
import { FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import { useRestored } from '../../../ui/use-restored.ts';
import { AutoDialog } from './auto-dialog.tsx';
import { lastText, markOf, methodText, nextText, offerText, ruleText } from './auto-words.ts';

const LOOK_MS = 2_000;

/** Reads again while something is under way that ends within seconds. */
function useLooks(facts: AutoTopupFactsFragment | null | undefined, reread: () => void): void {
  const step = facts?.next.step;
  const waits = facts?.mandate?.status === 'PENDING' || step === 'ANNOUNCING' || step === 'CHARGING';
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(reread, LOOK_MS);
    return () => clearInterval(timer);
  }, [waits, reread]);
}

/** What the buttons do; each reads again what it changed. */
function useActs(facts: AutoTopupFactsFragment | null | undefined, reread: () => void) {
  const { busy, fault, send, sendOnce } = useSend();
  const mandate_id = facts?.mandate?.id ?? '';
  const topup_id = facts?.next.topupId ?? '';
  const register = async (method: AutoTopupFactsFragment['methods'][number]) => {
    const answer = await sendOnce(CreateMandateDocument, { method });
    if (answer !== null) location.assign(answer.registrationUrl);
  };
  const resume = () => send(ResumeMandateDocument, { id: mandate_id }).then(reread);
  const remove = () => send(CancelMandateDocument, { id: mandate_id }).then(reread);
  const skip = () => send(SkipAutoTopupDocument, { topupId: topup_id }).then(reread);
  const turn = (enabled: boolean) =>
    send(SetAutoTopupDocument, {
      enabled,
      thresholdMicro: facts?.config.thresholdMicro ?? '0',
      amountMinor: facts?.config.amountMinor ?? '0',
    }).then(reread);
  return { busy, fault, register, resume, remove, skip, turn };
}

/** What may be debited, and what can be done with it. */
function Method({ facts, acts }: { facts: AutoTopupFactsFragment; acts: ReturnType<typeof useActs> }) {
  const { mandate, methods, currency } = facts;
  const in_force = mandate !== null && mandate !== undefined && mandate.status !== 'PENDING';
  return (
    <div className="note">
      <span className="grow">
        {in_force
          ? `Your ${methodText(mandate.method)} may be debited, up to ${currencyText(mandate.maxAmountMinor, currency)} at a time.`
          : 'It needs a payment method that may be debited while nobody is there.'}
      </span>
      {mandate?.status === 'PAUSED' && (
        <Button busy={acts.busy} onClick={() => void acts.resume()}>
          Resume
        </Button>
      )}
      {mandate?.registrationUrl && (
        <a className="btn primary" href={mandate.registrationUrl} rel="noreferrer">
          Continue
        </a>
      )}
      {mandate && (
        <Button busy={acts.busy} onClick={() => void acts.remove()}>
          {in_force ? 'Remove' : 'Cancel it'}
        </Button>
      )}
      {!mandate &&
        methods.map((method) => (
          <Button key={method} kind="primary" busy={acts.busy} onClick={() => void acts.register(method)}>
            {offerText(method)}
          </Button>
        ))}
    </div>
  );
}

/** The sentence of what is set, and what comes of it. */
function Rule({
  facts,
  acts,
  onChange,
}: {
  facts: AutoTopupFactsFragment;
  acts: ReturnType<typeof useActs>;
  onChange: () => void;
}) {
  const { next, config, mandate, lastAttempt } = facts;
  const { tone, shape, word } = markOf(next);
  const last = lastText(lastAttempt);
  return (
    <>
      <div className="note" role="status">
        <Status tone={tone} shape={shape}>
          {word}
        </Status>
        <span className="grow">
          {nextText(next)}{' '}
          {next.at && (
            <span className="sub">
              Not before <Time at={next.at} />.
            </span>
          )}
        </span>
        {next.canSkip && (
          <Button busy={acts.busy} onClick={() => void acts.skip()}>
            Skip this debit
          </Button>
        )}
      </div>
      <div className="note">
        <span className="grow">{ruleText(facts)}</span>
        <Button onClick={onChange}>Change</Button>
        <Button
          kind={config.enabled ? 'default' : 'primary'}
          busy={acts.busy}
          disabled={!config.enabled && mandate?.status !== 'ACTIVE'}
          onClick={() => void acts.turn(!config.enabled)}
        >
          {config.enabled ? 'Switch off' : 'Switch on'}
        </Button>
      </div>
      {last !== null && <p className="sub auto-last">{last}</p>}
    </>
  );
}

/** The card; nothing where nobody can be debited here. */
export function AutoTopupCard() {
  const [{ data }, again] = useQuery({ query: AutoTopupDocument, requestPolicy: 'cache-and-network' });
  const [changing, setChanging] = useState(false);
  const facts = data?.credits?.autoTopup;
  const reread = useCallback(() => again({ requestPolicy: 'network-only' }), [again]);
  useRestored(reread);
  useLooks(facts, reread);
  const acts = useActs(facts, reread);
  if (!facts || (facts.methods.length === 0 && !facts.mandate)) return null;
  return (
    <Card title="Automatic top-up" flush>
      <Rule facts={facts} acts={acts} onChange={() => setChanging(true)} />
      <Method facts={facts} acts={acts} />
      <FormFault fault={acts.fault} />
      {changing && <AutoDialog facts={facts} onSaved={reread} onClose={() => setChanging(false)} />}
    </Card>
  );
}
