import { runCrash } from './run.ts';
const q=(t:string)=>`'${t.replaceAll("'", "''")}'`;
const patch=(n:string,f:string,t:string)=>`do $m$ declare v text := pg_get_functiondef('${n}'::regproc); begin if strpos(v, ${q(f)})=0 then raise exception 'x'; end if; execute replace(v, ${q(f)}, ${q(t)}); end $m$`;
for (const seed of [1,2]) {
const r = await runCrash({rounds:3, seed, calls:250, in_flight:120, quiet_ms:8000, kinds:['settling','both'], progress:(l)=>console.log(l), mutate:[patch('ledger.settle_run',"case when q.is_metered then 'd'","case when false then 'd'"),'alter table ledger.meter drop constraint request_is_metered_once']});
console.log(seed, r.faults.slice(0,5));
}
