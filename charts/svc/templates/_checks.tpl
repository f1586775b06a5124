{{/*
What a schema cannot say in a sentence: values that make no sense together. The first that fails ends the rendering.
*/}}
{{- define "svc.checks" -}}
{{- $v := .Values -}}
{{- if or (include "svc.hasServers" .) $v.migrations.enabled -}}
  {{- if and (not $v.postgres.existingSecret.name) (or (include "svc.hasServers" .) (not $v.migrations.existingSecret.name)) -}}
    {{- fail "postgres.existingSecret.name: name the Secret that holds the address of PostgreSQL, or switch off gateway, admin, worker and migrations." -}}
  {{- end -}}
{{- end -}}
{{- if include "svc.hasServers" . -}}
  {{- if not $v.baseUrl -}}
    {{- fail "baseUrl: give the public address of the gateway, like https://llm.example." -}}
  {{- end -}}
  {{- if and (hasPrefix "http://" $v.baseUrl) (not $v.allowInsecureCookies) -}}
    {{- fail (printf "baseUrl: %s would send session cookies in the clear; use https, or set allowInsecureCookies where only trusted machines can listen." $v.baseUrl) -}}
  {{- end -}}
  {{- if not $v.keyRing.existingSecret.name -}}
    {{- fail "keyRing.existingSecret.name: name the Secret that holds the key ring; README.md says how to make one." -}}
  {{- end -}}
{{- end -}}
{{- if and $v.gateway.enabled (not $v.redis.existingSecret.name) (or (gt (int $v.gateway.replicas) 1) $v.gateway.autoscaling.enabled) -}}
  {{- fail "redis.existingSecret.name: more than one gateway needs a Redis, or each would grant every limit anew; name the Secret that holds its address, or set gateway.replicas to 1 without autoscaling." -}}
{{- end -}}
{{- if gt (int $v.gateway.autoscaling.minReplicas) (int $v.gateway.autoscaling.maxReplicas) -}}
  {{- fail "gateway.autoscaling: minReplicas is above maxReplicas." -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]" (include "svc.fullname" .)) -}}
  {{- fail (printf "fullnameOverride: the release %s begins with a digit, and a Service may not; give the names another beginning." .Release.Name) -}}
{{- end -}}
{{- range $letter, $rail := $v.rails -}}
{{- if and (or $rail.baseUrl $rail.keyId) (not $rail.existingSecret.name) -}}
  {{- fail (printf "rails.%s.existingSecret.name: rail-%s has an address or a key id and no secrets, and no program starts so; name the Secret that holds them." $letter $letter) -}}
{{- end -}}
{{- end -}}
{{- if and $v.rails.a.existingSecret.name (not $v.rails.a.keyId) -}}
  {{- fail "rails.a.keyId: rail-a has secrets and no key id, and no program starts so; its checkout is opened in browsers under this name." -}}
{{- end -}}
{{- if and $v.mail.existingSecret.name (not $v.mail.from) -}}
  {{- fail "mail.from: a mail server is named and no address to send from; no gateway or worker starts so." -}}
{{- end -}}
{{- $shops := $v.storefronts -}}
{{- if and (not $shops.base) (or $shops.ingress.enabled $shops.tls.enabled $shops.acme.directoryUrl) -}}
  {{- fail "storefronts.base: an Ingress, TLS or certificates of storefronts are wanted and there are no storefronts; give the domain below which they are." -}}
{{- end -}}
{{- if and (or $shops.ingress.enabled $shops.tls.enabled) (not (and $v.gateway.enabled $v.admin.enabled)) -}}
  {{- fail "storefronts: their hosts lead to gateway and admin; enable both, or switch storefronts.ingress and storefronts.tls off." -}}
{{- end -}}
{{- if and $shops.acme.directoryUrl (not $shops.tls.enabled) -}}
  {{- fail "storefronts.tls.enabled: certificates are issued only for what the gateway serves over TLS itself." -}}
{{- end -}}
{{- if and $shops.acme.eab.kid (not $shops.acme.eab.existingSecret.name) -}}
  {{- fail "storefronts.acme.eab.existingSecret.name: name the Secret that holds the key with this id." -}}
{{- end -}}
{{- $tls := $v.temporal.tls -}}
{{- if and (not $tls.enabled) (or $tls.existingSecret.name $tls.serverName $v.temporal.apiKey.existingSecret.name) -}}
  {{- fail "temporal.tls.enabled: certificates and an API key for Temporal need TLS; without it the key would be sent in the clear." -}}
{{- end -}}
{{- with $tls.existingSecret -}}
{{- if and .name (not (or .caKey .certKey)) -}}
  {{- fail "temporal.tls.existingSecret: caKey or certKey and keyKey must say what the Secret holds." -}}
{{- end -}}
{{- if and (or .caKey .certKey .keyKey) (not .name) -}}
  {{- fail "temporal.tls.existingSecret.name: the Secret with the keys that are named." -}}
{{- end -}}
{{- if ne (empty .certKey) (empty .keyKey) -}}
  {{- fail "temporal.tls.existingSecret: certKey and keyKey belong together." -}}
{{- end -}}
{{- end -}}
{{- if and $v.worker.enabled (not $v.temporal.address) -}}
  {{- fail "temporal.address: the worker needs the address of a Temporal frontend, like temporal-frontend.temporal.svc:7233." -}}
{{- end -}}
{{- if and $v.operator.enabled (not $v.operator.gatewayUrl) (not $v.gateway.enabled) -}}
  {{- fail "operator.gatewayUrl: without a gateway in this release, say where the gateway is." -}}
{{- end -}}
{{- range $name := list "gateway" "admin" -}}
  {{- $program := index $v $name -}}
  {{- if and $program.enabled $program.ingress.enabled (not $program.ingress.host) -}}
    {{- fail (printf "%s.ingress.host: an Ingress without a host would take every host of the controller." $name) -}}
  {{- end -}}
{{- end -}}
{{- if and $v.providers.file $v.providers.existingConfigMap -}}
  {{- fail "providers: give either file or existingConfigMap." -}}
{{- end -}}
{{- $seen := dict -}}
{{- range $v.providers.keys -}}
  {{- if hasKey $seen .env -}}
    {{- fail (printf "providers.keys: %s stands there twice." .env) -}}
  {{- end -}}
  {{- $_ := set $seen .env true -}}
  {{- if or (hasPrefix "SVC_" .env) (hasPrefix "NODE_" .env) -}}
    {{- fail (printf "providers.keys: %s is no key of a provider; settings have values of their own." .env) -}}
  {{- end -}}
{{- end -}}
{{- if and $v.serviceMonitor.enabled $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) -}}
  {{- fail "networkPolicy.metricsFrom: say where Prometheus runs, or the NetworkPolicies keep it out." -}}
{{- end -}}
{{- end -}}
