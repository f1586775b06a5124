// Work that may be done at once or in slices. It says itself where other calls of the process may come between.

/** Work that may be interrupted wherever it yields. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Items between two steps: they take a millisecond or two. */
const ITEMS = 1_024;

/** The result of `steps`, without a break. */
export function atOnce<T>(steps: Steps<T>): T {
  let next = steps.next();
  while (next.done !== true) next = steps.next();
  return next.value;
}

/** Calls `work` with each item of `list`. */
export function* eachInSteps<T>(list: readonly T[], work: (item: T, index: number) => void): Steps<void> {
  for (let i = 0; i < list.length; i++) {
    work(list[i] as T, i);
    if (i % ITEMS === ITEMS - 1) yield;
  }
}

/** `list.map(make)`. */
export function* mapInSteps<T, R>(list: readonly T[], make: (item: T, index: number) => R): Steps<R[]> {
  const made: R[] = [];
  yield* eachInSteps(list, (item, i) => {
    made.push(make(item, i));
  });
  return made;
}

/** A reader that reads by `steps`, at once and in steps. */
export function readingBy<A extends readonly unknown[], T>(steps: (...args: A) => Steps<T>) {
  return { read: (...args: A): T => atOnce(steps(...args)), readInSteps: steps };
}
