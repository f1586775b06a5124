// Loaded with `--import` by gateways that test files start: records from their first answer on.
import { recordAnswers } from './record.ts';

recordAnswers();
