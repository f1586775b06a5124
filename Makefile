# Every target works in a fresh clone: the first line installs what the second one needs (see cli/bin/install.mjs).
# `exec` leaves no shell in between, so that a signal reaches the program itself.
node := node_modules/.bin/node
install := node cli/bin/install.mjs
# Keeps stripped and compiled sources over runs: halves the time of a start (720 to 300 ms on two cores).
compiled := NODE_COMPILE_CACHE=$(CURDIR)/.cache/compile

.PHONY: help up test check format bench citus crash crash-money mandates gateways rail-scenarios month mutations mutants fuzz-api keycloak agents tools catalog schema upgrade-dump evals-killed evals-many workflows-many directory bench-rows release simulate soak

help:
	@echo 'make up       start everything, print addresses, keys and first calls (Ctrl-C stops all)'
	@echo 'make test     types, lint and every test; the last line says how many passed (ONLY=folder: of that folder)'
	@echo 'make check    types, lint, the rules of test/tidy, licenses and known vulnerabilities of packages'
	@echo 'make format   rewrite sources in the house format'
	@echo 'make bench    measure the gateway against a bare proxy on this machine'
	@echo 'make crash    kill programs under load and compare what everybody saw (ROUNDS=n SEED=s SHARDS=3)'
	@echo 'make citus    the suites of ledger, calls and crashes with ledgers in a Citus cluster, and moves of one (ADDRESS=postgres://… of its coordinator ROUNDS=n SEED=s)'
	@echo 'make simulate  run gateways, worker, rails and providers in one process on virtual time, seed by seed (SEEDS=n SEED=s)'
	@echo 'make month    live a month of 100,000 calls and reconcile it to the micro-dollar (CALLS=n SEED=s)'
	@echo 'make crash-money  kill programs under every way money moves, and compare with the books of the rails (ROUNDS=n SEED=s)'
	@echo 'make soak     live a day on a moved clock over the end of a month: calls, payments, deployments, root keys, memory, books (HOURS=n CALLS=n HTTP_CALLS=n TOPUPS=n SEED=s)'
	@echo 'make mandates  live ninety days with a thousand mandates: no rule of the rail broken, nothing debited unannounced or twice (COUNT=n DAYS=n SEED=s)'
	@echo 'make gateways  kill, restore and scale three gateways: what the status of a policy says is what each enforces within two seconds (ROUNDS=n SEED=s)'
	@echo 'make rail-scenarios  play the scenarios that a payment rail publishes for integrations, and print the verdict of each'
	@echo 'make evals-killed  kill the worker of a run thirty times, sixteen calls at once, with a provider that bills three times the most (KILLS=n)'
	@echo 'make evals-many    run ten thousand answers and show memory and histories (ANSWERS=n)'
	@echo 'make workflows-many  open ten thousand top-ups and mandates, and show histories, latencies, sizes (COUNT=n SECONDS=n ENCRYPT=1)'
	@echo 'make directory     provision five thousand people over SCIM while calls run, and take them out again (PEOPLE=n)'
	@echo 'make mutations   break the product on purpose and require that the crash test notices (ONLY=words)'
	@echo 'make mutants     change files of prices, ledger and top-ups in every way that Stryker knows and require that tests notice (ONLY=core/ledger/verify)'
	@echo 'make fuzz-api    send a gateway requests made of its document, valid and invalid (SEED=n EXAMPLES=n SECONDS=n)'
	@echo 'make agents   coding agents and frameworks, unchanged, before every family (NEWEST=1 ONLY=codex FAMILY=gemini)'
	@echo 'make tools    install what tests need beyond npm packages, and list where each thing was found'
	@echo 'make catalog  write the committed catalog anew from its sources'
	@echo 'make schema   write core/db/schema.sql anew from the migrations'
	@echo 'make release  from a tag: image, charts, list of parts, provenance and notes (TAG=v1.2.3 ARGS="--repository … --push --key …")'
	@echo 'make upgrade-dump  write the dump of this release that later releases are tested to upgrade'

up:
	@echo 'svc: starting (Ctrl-C stops everything it starts)'
	@$(install) run && $(compiled) exec $(node) cli/up/main.ts

test:
	@$(install) all && $(if $(SHARDS),export TEST_SHARDS=$(SHARDS) &&) $(if $(POOLER),export TEST_POOLER=$(POOLER) &&) exec $(node) test/run.ts $(if $(ONLY),--only '$(ONLY)')

check:
	@$(install) all && $(node) node_modules/typescript/bin/tsc -p . && $(node) console/build.ts --documents && \
	  $(node) node_modules/typescript/bin/tsc -p console && $(node) test/tidy/main.ts && \
	  $(node) cli/release/check.ts && exec node_modules/.bin/biome ci .

format:
	@$(install) all && exec node_modules/.bin/biome check --write .

bench-rows:
	@$(install) all && exec $(node) test/bench/rows/main.ts $(ARGS)

bench:
	@$(install) all && exec $(node) test/bench/main.ts

crash:
	@$(install) all && exec $(node) test/crash/main.ts $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED)) $(if $(SHARDS),--shards $(SHARDS))

citus:
	@$(install) all && exec $(node) test/citus/main.ts --address '$(ADDRESS)' $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED))

simulate:
	@$(install) all && exec $(node) test/simulation/main.ts --seeds $(or $(SEEDS),10000) --seed $(or $(SEED),1)

month:
	@$(install) all && MONTH_CALLS=$(or $(CALLS),100000) MONTH_SEED=$(or $(SEED),20261) exec $(node) \
	  node_modules/vitest/vitest.mjs run test/credits/month.test.ts --maxWorkers=1

crash-money:
	@$(install) all && exec $(node) test/crash-money/main.ts $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED))

soak:
	@$(install) all && exec $(node) test/soak/main.ts $(if $(HOURS),--hours $(HOURS)) $(if $(CALLS),--calls $(CALLS)) \
	  $(if $(HTTP_CALLS),--http-calls $(HTTP_CALLS)) $(if $(TOPUPS),--topups $(TOPUPS)) $(if $(SEED),--seed $(SEED))

evals-killed:
	@$(install) all && KILLS=$(or $(KILLS),30) exec $(node) node_modules/vitest/vitest.mjs run test/evals/killed.test.ts --maxWorkers=1

evals-many:
	@$(install) all && ANSWERS=$(or $(ANSWERS),10000) exec $(node) node_modules/vitest/vitest.mjs run test/evals/many.test.ts --maxWorkers=1

workflows-many:
	@$(install) all && WORKFLOWS=$(or $(COUNT),10000) WORKFLOWS_SECONDS=$(or $(SECONDS),600) WORKFLOWS_ENCRYPT=$(ENCRYPT) exec $(node) \
	  node_modules/vitest/vitest.mjs run test/temporal/many.test.ts --maxWorkers=1

directory:
	@$(install) all && PEOPLE=$(or $(PEOPLE),5000) exec $(node) node_modules/vitest/vitest.mjs run test/concurrency/directory.test.ts --maxWorkers=1

mandates:
	@$(install) all && MANDATES=$(or $(COUNT),1000) MANDATE_DAYS=$(or $(DAYS),90) MANDATE_SEED=$(or $(SEED),7) exec $(node) \
	  node_modules/vitest/vitest.mjs run test/mandates/many.test.ts --maxWorkers=1

gateways:
	@$(install) all && ROUNDS=$(or $(ROUNDS),200) SEED=$(or $(SEED),7) exec $(node) \
	  node_modules/vitest/vitest.mjs run operator/gateways.test.ts --maxWorkers=1

rail-scenarios:
	@$(install) all && exec $(node) test/rail-scenarios/main.ts

mutations:
	@$(install) all && exec $(node) test/mutations/product/main.ts $(if $(ONLY),--only '$(ONLY)')

mutants:
	@$(install) all && exec $(node) test/mutations/sources/main.ts $(if $(ONLY),--only '$(ONLY)')

fuzz-api:
	@$(install) all && exec $(node) test/fuzz/main.ts $(if $(SEED),--seed $(SEED)) $(if $(EXAMPLES),--examples $(EXAMPLES)) \
	  $(if $(SECONDS),--seconds $(SECONDS))

keycloak:
	@$(install) all && KEYCLOAK=$(KEYCLOAK) exec $(node) node_modules/vitest/vitest.mjs run --mode keycloak --no-file-parallelism

agents:
	@$(install) all && exec $(node) test/agents/main.ts $(if $(NEWEST),--newest) $(if $(ONLY),--only $(ONLY)) $(if $(FAMILY),--family $(FAMILY))

release:
	@$(install) all && exec $(node) cli/release/main.ts $(if $(TAG),--tag $(TAG)) $(ARGS)

tools:
	@$(install) all && exec $(node) cli/tools/main.ts

catalog:
	@$(install) all && exec $(node) core/catalog/generate/generate.ts $(or $(DATE),$(shell date -u +%F))

schema:
	@$(install) all && exec $(node) node_modules/vitest/vitest.mjs run core/db/schema.test.ts -u

upgrade-dump:
	@$(install) all && exec $(node) test/upgrade/make.ts
