// What a dispute of a payment means for the customer, under its top-up.
import { type Dispute, wordsOfDispute } from './dispute-words.ts';

export function DisputeNote({ dispute }: { dispute: Dispute }) {
  const { happened, means, todo } = wordsOfDispute(dispute);
  return (
    <dl className="dispute">
      <dt>What happened</dt>
      <dd>{happened}</dd>
      <dt>Your credits</dt>
      <dd>{means}</dd>
      <dt>What to do</dt>
      <dd>{todo ?? 'Nothing.'}</dd>
    </dl>
  );
}
