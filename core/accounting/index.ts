export { ACCOUNTS } from './accounts.ts';
export { type TrialBalance, trialBalance } from './trial-balance.ts';
