// Credit that is given: the daily check-in, gifts, and codes that were redeemed.
import {
  CheckinStatusView,
  CheckinView,
  checkInOperation,
  getCheckinOperation,
} from '@svc/core/credits/index.ts';
import {
  cancelGiftOperation,
  createGiftOperation,
  GiftView,
  giftStatuses,
  listGiftsOperation,
} from '@svc/core/gifts/index.ts';
import { listRedemptionsOperation, RedemptionView, redeemOperation } from '@svc/core/redeem/index.ts';
import { builder, derive } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { mutation } from '../../mutation.ts';
import { type Book, Credits } from './credits.ts';

derive.enum('GiftStatus', giftStatuses);

const CheckinStatus = derive.output('CheckinStatus', CheckinStatusView);
const Checkin = derive.output('Checkin', CheckinView);
const Gift = derive.output('Gift', GiftView, { omit: ['code'] });
const GiftConnection = connectionType('Gift', Gift);
const Redemption = derive.output('Redemption', RedemptionView);
const RedemptionConnection = connectionType('Redemption', Redemption);

builder.objectFields(Credits, (t) => ({
  checkin: t.field({
    type: CheckinStatus,
    nullable: true,
    extensions: { operation: getCheckinOperation.name },
    resolve: ({ environment }, _args, { runner }) => runner.run(getCheckinOperation, {}, { environment }),
  }),
  gifts: pageField(t, 'Gifts', {
    operation: listGiftsOperation,
    type: GiftConnection,
    description: 'Gifts that the organization has made, newest first; live only.',
    options: ({ environment }: Book) => ({ environment }),
  }),
  redemptions: pageField(t, 'Redemptions', {
    operation: listRedemptionsOperation,
    type: RedemptionConnection,
    description: 'Codes and gifts that the organization has redeemed, newest first; live only.',
    options: ({ environment }: Book) => ({ environment }),
  }),
}));

interface Answer<T> {
  readonly answer: T;
}

mutation({
  name: 'checkIn',
  operation: checkInOperation,
  input: checkInOperation.input,
  description: 'A little credit, once per organization and UTC day.',
  payload: (t) => ({
    checkin: t.field({ type: Checkin, resolve: ({ answer }: Answer<unknown>) => answer }),
  }),
});

mutation({
  name: 'createGift',
  operation: createGiftOperation,
  input: createGiftOperation.input,
  description: 'Makes a gift out of paid credit that is older than seven days.',
  payload: (t) => ({
    gift: t.field({ type: Gift, resolve: ({ answer }: Answer<unknown>) => answer }),
    code: t.string({
      description: 'shown here alone',
      resolve: ({ answer }: Answer<{ code: string }>) => answer.code,
    }),
  }),
});

mutation({
  name: 'cancelGift',
  operation: cancelGiftOperation,
  input: cancelGiftOperation.input,
  description: 'Cancels an open gift; its credit goes back where it was.',
  payload: (t) => ({
    id: t.id({ resolve: ({ answer }: Answer<{ id: string }>) => answer.id }),
  }),
});

mutation({
  name: 'redeemCode',
  operation: redeemOperation,
  input: redeemOperation.input,
  description: 'Redeems a code or a gift.',
  payload: (t) => ({
    redemption: t.field({ type: Redemption, resolve: ({ answer }: Answer<unknown>) => answer }),
  }),
});
