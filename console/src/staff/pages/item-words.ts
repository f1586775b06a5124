// What the kinds of staff items mean, and what a person does about them. Pure.

interface Words {
  readonly title: string;
  readonly why: string;
  readonly todo: string;
}

const words: Readonly<Record<string, Words>> = {
  amount_mismatch: {
    title: 'Paid another amount',
    why: 'The payment of a top-up has another amount or currency than the top-up. It is in review, and nothing was booked.',
    todo: 'Compare both in the dashboard of the rail, then book it or give it back under Reviews.',
  },
  erasure_failed: {
    title: 'Erasure that failed',
    why: 'The data of an end user could not be erased in seven days of tries. The law gives thirty from the request on.',
    todo: 'Find out in the log of the worker what refuses it, and let the customer ask again; what was done stays done.',
  },
  org_erasure_waits: {
    title: 'Erasure of an organization that waits',
    why: 'What an organization has left could not be erased in seven days of tries. The service goes on trying.',
    todo: 'Find out in the log of the worker what refuses the step; what was done stays done.',
  },
  closing_waits: {
    title: 'Closing without an end',
    why: 'An organization was closed three days ago, and a call still holds credit or a refund is not through. The service goes on trying.',
    todo: 'Look at its refunds and at the rail; a call that holds credit for days has lost its gateway.',
  },
  second_payment: {
    title: 'Paid twice',
    why: 'A top-up that was paid already was paid again. The second payment is given back by itself.',
    todo: 'See in the dashboard of the rail that it was given back, then resolve.',
  },
  unknown_topup: {
    title: 'Payment of no top-up',
    why: 'A callback of a rail names no top-up of ours. Nothing was booked.',
    todo: 'Find the payment in the dashboard of the rail: give it back there when it is nobody’s.',
  },
  names_disagree: {
    title: 'Callback names two top-ups',
    why: 'Order, payment and metadata of a callback do not lead to one top-up of this rail. Nothing was booked.',
    todo: 'Find out in the dashboard of the rail which top-up was paid.',
  },
  unreadable_event: {
    title: 'Callback that cannot be read',
    why: 'A signed callback of a rail lacks what its kind must have. Nothing was booked.',
    todo: 'Look at the event in the dashboard of the rail; tell who runs the service when more of them come.',
  },
  rail_silent: {
    title: 'Rail sends no callbacks',
    why: 'A payment was found by asking the rail, which had reported nothing for an hour. It may have switched our address off after a day of failures. No payment is lost: the service goes on asking.',
    todo: 'See in the dashboard of the rail whether the webhook is switched on, then resolve.',
  },
  refund_at_rail: {
    title: 'Refund made at the rail',
    why: 'Money was given back in the dashboard of the rail, not through the service. It was booked: credits were taken and a credit note was written.',
    todo: 'Ask who did it and why; refunds belong into the service, where what is left is checked first.',
  },
  refund_differs: {
    title: 'Refund that fits nothing',
    why: 'What went back at the rail cannot be booked: its amount, currency or tax is none that the top-up can have. Nothing was booked.',
    todo: 'Compare it with the top-up and settle the difference with the rail and the customer.',
  },
  refund_failed_later: {
    title: 'Refund came back',
    why: 'The rail reports that a refund has failed which it had called done. Credits and credit note stand as they were.',
    todo: 'Find in the dashboard of the rail where the money is, and give it to the customer another way.',
  },
  refund_silent: {
    title: 'Refund without an end',
    why: 'The rail has not said for days whether a refund went through. Its credits stay taken.',
    todo: 'Ask the rail. When it ends there, it ends here by itself.',
  },
  fx_jump: {
    title: 'Exchange rate jumped',
    why: 'A rate of the day moved by more than a tenth. The day is not in force; prices follow the day before until they are too old.',
    todo: 'Compare with another source. When it is right, put it in force with svcctl fx accept.',
  },
  debit_silent: {
    title: 'Debit without an end',
    why: 'The rail has not said for long whether an automatic debit went through. Until it does, no other is made.',
    todo: 'Ask the rail. When it ends there, it ends here by itself.',
  },
  dispute_opened: {
    title: 'Payment disputed',
    why: 'The payer has disputed a payment at the bank. Its credits are held as far as they are unused, and go back or are taken when the dispute ends.',
    todo: 'Answer it at the rail before its day, or accept it there. It ends here by itself.',
  },
  dispute_due: {
    title: 'Dispute to be answered',
    why: 'The rail takes an answer to an open dispute for a few days more. Without one it is lost.',
    todo: 'Answer it at the rail before its day, or accept it there.',
  },
  dispute_silent: {
    title: 'Dispute without an end',
    why: 'A dispute has been open for long, and the rail has not said how it ended. Its credits stay taken.',
    todo: 'Ask the rail. When it ends there, it ends here by itself.',
  },
  dispute_differs: {
    title: 'Dispute of another amount',
    why: 'A payment is disputed in another currency, or for more than is left of it. Credits are taken for what fits.',
    todo: 'Compare it with the top-up and its refunds in the dashboard of the rail.',
  },
  dispute_changed: {
    title: 'Dispute that ended differently',
    why: 'The rail says another end of a dispute than before. The first one stays booked.',
    todo: 'Find out at the rail how it ended.',
  },
  dispute_loss: {
    title: 'Lost dispute, credits spent',
    why: 'A dispute was lost and its credits were spent already. The organization makes no calls until that is lifted or the loss is paid.',
    todo: 'Agree with the customer how it is paid, then say so on the page of disputes.',
  },
  mandate_not_released: {
    title: 'Mandate that the rail keeps',
    why: 'A mandate was cancelled here, and for a week the rail could not be made to forget it. Nothing is debited by us.',
    todo: 'Cancel the token in the dashboard of the rail, then resolve.',
  },
  irn_refused: {
    title: 'Registration refused',
    why: 'The portal does not register a document as it is, for the reason given. It is asked once a day, for 30 days.',
    todo: 'See the reason: a GSTIN may have to be activated. The item ends by itself when the portal takes the document.',
  },
  irn_differs: {
    title: 'Registered with other data',
    why: 'The portal has another document under this number. It was not taken over, and ours has no registration.',
    todo: 'Compare both at the portal; cancel there what is wrong, and give the customer a document that is registered.',
  },
  irn_hidden: {
    title: 'Registration cannot be read',
    why: 'The document is registered, but the answer was lost and the portal shows it for two days only.',
    todo: 'Find the signed document at the portal by its number, and send it to the customer.',
  },
  irn_late: {
    title: 'Not registered in 30 days',
    why: 'The portal could not be reached, or refused the document, for 30 days.',
    todo: 'Ask the accountant what to do; the sale and its credit stand.',
  },
  payment_not_at_rail: {
    title: 'Payment that the rail lacks',
    why: 'A top-up was booked as paid, and the rail does not list its payment and does not know it when asked.',
    todo: 'Look for the payment in the dashboard of the rail. When it is not there, credits were given for nothing: tell who runs the service.',
  },
  payment_unsettled: {
    title: 'Payment not paid out',
    why: 'Ten days after a payment it is in no payout of the rail, which has paid out others since.',
    todo: 'Ask the rail why it keeps the payment. The item ends by itself when it is paid out.',
  },
  refund_unsettled: {
    title: 'Refund in no payout',
    why: 'Ten days after a refund the rail has taken it off no payout, though it has made some since.',
    todo: 'See in the dashboard of the rail whether the refund went out. The item ends by itself when a payout has it.',
  },
  settlement_differs: {
    title: 'Settled another amount',
    why: 'The rail paid out another amount than was booked, or took another fee than it had said. Credits stay as they are; the fee is in the accounts as it was taken.',
    todo: 'Compare payout and top-up in the dashboard of the rail, and claim what is missing there.',
  },
  settlement_unknown: {
    title: 'Line of a payout that fits nothing',
    why: 'A payout of the rail has a line that is no payment, refund, dispute or fee. Nothing was booked.',
    todo: 'Ask the rail what it is, and tell the accountant.',
  },
  payout_differs: {
    title: 'Payout is not its lines',
    why: 'What the rail sent to the bank is not the sum of the lines that it lists for it. Looked at a day later, so that late lines are in it.',
    todo: 'Compare the payout with its report in the dashboard of the rail and with the bank’s statement.',
  },
  payout_failed: {
    title: 'Payout failed',
    why: 'The bank did not take a payout of the rail. The money is still at the rail.',
    todo: 'See the reason in the dashboard of the rail; the account number there may be wrong.',
  },
  comparison_overdue: {
    title: 'Rail not compared for days',
    why: 'The books of the rail could not be read for two days. Payments are booked by callbacks and polls all the same.',
    todo: 'See whether the rail is reachable and its keys are valid. It is caught up with, and the item ends, by itself.',
  },
  reconciliation_variance: {
    title: 'Ledger and calls differ',
    why: 'What a day’s calls cost by their rows is not what the ledger charged. It ends by itself when the two agree again.',
    todo: 'Wait a day for late settles; what is left then is a fault: tell who runs the service.',
  },
};

/** What an item is, why it is there, and what to do; of a kind that has no words here, the kind. */
export function wordsOf(kind: string): Words {
  const title = kind.replaceAll('_', ' ');
  return (
    words[kind] ?? {
      title: title.charAt(0).toUpperCase() + title.slice(1),
      why: 'The service could not end this by itself.',
      todo: 'The details say what it is about.',
    }
  );
}

/** "3 hours", "2 days": how long something has waited. */
export function ageOf(since: string, now: Date): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 60_000));
  const of = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (minutes < 60) return of(minutes, 'minute');
  if (minutes < 48 * 60) return of(Math.floor(minutes / 60), 'hour');
  return of(Math.floor(minutes / (24 * 60)), 'day');
}
