{{/* Settings that all programs share; each is described in docs/configuration.md. */}}
{{- define "svc.settings" -}}
{{- $v := .Values -}}
SVC_HOST: {{ $v.host | quote }}
SVC_PORT: "8080"
SVC_ADMIN_PORT: "8081"
SVC_STAFF_PORT: "8082"
SVC_METRICS_HOST: {{ $v.host | quote }}
SVC_METRICS_PORT: "9464"
SVC_DATA_DIR: /var/lib/svc
SVC_MASTER_KEY_FILE: /etc/svc/key-ring/keyring.json
SVC_BASE_URL: {{ $v.baseUrl | quote }}
{{- if $v.gateway.enabled }}
SVC_GATEWAY_URL: {{ include "svc.gatewayService" . | quote }}
{{- end }}
SVC_CELL: {{ $v.cell | quote }}
SVC_ANALYTICS_DUAL: {{ $v.analytics.dual | quote }}
SVC_LOG_LEVEL: {{ $v.logLevel | quote }}
SVC_LOG: {{ $v.log | quote }}
SVC_MAX_BODY_BYTES: {{ int64 $v.maxBodyBytes | quote }}
SVC_MANAGEMENT_RPM: {{ int64 $v.requestsPerMinute.management | quote }}
SVC_SCIM_RPM: {{ int64 $v.requestsPerMinute.scim | quote }}
SVC_PUBLIC_RPM: {{ int64 $v.requestsPerMinute.public | quote }}
SVC_MAX_CALLS: {{ int64 $v.gateway.maxCalls | quote }}
SVC_LEDGER_SYNC_HOLDS: {{ $v.ledger.syncHolds | quote }}
SVC_LEDGER_LEASE_SECONDS: {{ int64 $v.ledger.leaseSeconds | quote }}
SVC_LEDGER_CONNECTIONS: {{ int64 $v.ledger.connections | quote }}
SVC_DATABASE_CONNECTIONS: {{ int64 $v.postgres.connections | quote }}
SVC_LOOKUP_CONNECTIONS: {{ int64 $v.postgres.lookupConnections | quote }}
{{- with $v.ledger.shards.open }}
SVC_LEDGER_SHARDS_OPEN: {{ join "," . | quote }}
{{- end }}
SVC_LIMITS_LEASE_SECONDS: {{ int64 $v.limits.leaseSeconds | quote }}
SVC_ALLOW_INSECURE_COOKIES: {{ $v.allowInsecureCookies | quote }}
SVC_SIGNUP: {{ $v.signup | quote }}
{{- with $v.storefronts.base }}
SVC_STOREFRONT_BASE: {{ . | quote }}
{{- end }}
SVC_STOREFRONT_CA: {{ $v.storefronts.ca | quote }}
{{- if $v.storefronts.tls.enabled }}
SVC_TLS_PORT: "8443"
SVC_TLS_HTTP_PORT: "8088"
SVC_TLS_ADMIN_URL: {{ include "svc.adminService" . | quote }}
{{- if $v.storefronts.tls.existingSecret.name }}
SVC_TLS_CERT_FILE: /etc/svc/storefront-tls/tls.crt
SVC_TLS_KEY_FILE: /etc/svc/storefront-tls/tls.key
{{- end }}
{{- end }}
{{- with $v.storefronts.acme }}
{{- if .directoryUrl }}
SVC_ACME_DIRECTORY_URL: {{ .directoryUrl | quote }}
SVC_ACME_WARN_DAYS: {{ int .warnDays | quote }}
{{- with .email }}
SVC_ACME_EMAIL: {{ . | quote }}
{{- end }}
{{- with .eab.kid }}
SVC_ACME_EAB_KID: {{ . | quote }}
{{- end }}
{{- if $v.trustedCa.existingConfigMap }}
SVC_ACME_CA_FILE: /etc/svc/trusted-ca/ca.crt
{{- end }}
{{- end }}
{{- end }}
SVC_PUBLIC_MIN_ORGS: {{ int64 $v.publicMinOrgs | quote }}
SVC_CHALLENGE: {{ $v.challenge.kind | quote }}
{{- with $v.challenge.siteKey }}
SVC_CHALLENGE_SITE_KEY: {{ . | quote }}
{{- end }}
{{- with $v.challenge.url }}
SVC_CHALLENGE_URL: {{ . | quote }}
{{- end }}
SVC_INSECURE_UPSTREAMS: {{ $v.insecureUpstreams | quote }}
SVC_GRAPHQL_PERSISTED_ONLY: {{ $v.graphqlPersistedOnly | quote }}
SVC_ALLOW_INSECURE_WEBHOOKS: {{ $v.webhooks.allowInsecure | quote }}
SVC_FX_SOURCE: {{ $v.fxSource | quote }}
{{- with $v.telemetry.endpoint }}
SVC_OTLP_ENDPOINT: {{ . | quote }}
SVC_OTLP_SAMPLE_PERCENT: {{ int $v.telemetry.samplePercent | quote }}
{{- end }}
{{- with include "svc.consoleOrigins" . }}
SVC_CONSOLE_ORIGINS: {{ . | quote }}
{{- end }}
{{- with $v.trustedProxies }}
SVC_TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
{{- with $v.webhooks.egressAllow }}
SVC_EGRESS_ALLOW: {{ join "," . | quote }}
{{- end }}
{{- with $v.webhooks.dnsServers }}
SVC_DNS_SERVERS: {{ join "," . | quote }}
{{- end }}
{{- if $v.temporal.address }}
SVC_TEMPORAL_ADDRESS: {{ $v.temporal.address | quote }}
SVC_TEMPORAL_NAMESPACE: {{ $v.temporal.namespace | quote }}
SVC_TEMPORAL_TLS: {{ $v.temporal.tls.enabled | quote }}
{{- with $v.temporal.tls }}
{{- if .existingSecret.caKey }}
SVC_TEMPORAL_TLS_CA_FILE: /etc/svc/temporal-tls/ca.crt
{{- else if and .enabled $v.trustedCa.existingConfigMap }}
SVC_TEMPORAL_TLS_CA_FILE: /etc/svc/trusted-ca/ca.crt
{{- end }}
{{- if .existingSecret.certKey }}
SVC_TEMPORAL_TLS_CERT_FILE: /etc/svc/temporal-tls/tls.crt
SVC_TEMPORAL_TLS_KEY_FILE: /etc/svc/temporal-tls/tls.key
{{- end }}
{{- with .serverName }}
SVC_TEMPORAL_TLS_SERVER_NAME: {{ . | quote }}
{{- end }}
{{- end }}
{{- with $v.temporal.deployment }}
SVC_TEMPORAL_DEPLOYMENT: {{ . | quote }}
{{- end }}
{{- with $v.temporal.buildId }}
SVC_TEMPORAL_BUILD_ID: {{ . | quote }}
{{- end }}
{{- end }}
SVC_TEMPORAL_SEARCH: {{ $v.temporal.search | quote }}
SVC_TEMPORAL_ENCRYPT: {{ $v.temporal.encrypt | quote }}
SVC_TEMPORAL_DECODER: {{ $v.temporal.decoder.enabled | quote }}
{{- with $v.temporal.decoder.uiOrigins }}
SVC_TEMPORAL_UI_ORIGINS: {{ join "," . | quote }}
{{- end }}
{{- if or $v.providers.file $v.providers.existingConfigMap }}
SVC_PROVIDERS_FILE: /etc/svc/providers/providers.yaml
{{- end }}
{{- with $v.eInvoices.url }}
SVC_EINVOICE_URL: {{ . | quote }}
{{- end }}
{{- with $v.rails.a.baseUrl }}
SVC_RAIL_A_BASE_URL: {{ . | quote }}
{{- end }}
{{- with $v.rails.a.keyId }}
SVC_RAIL_A_KEY_ID: {{ . | quote }}
{{- end }}
{{- with $v.rails.b.baseUrl }}
SVC_RAIL_B_BASE_URL: {{ . | quote }}
{{- end }}
{{- with $v.rails.b.keyId }}
SVC_RAIL_B_KEY_ID: {{ . | quote }}
{{- end }}
{{- with $v.mail.from }}
SVC_MAIL_FROM: {{ . | quote }}
{{- end }}
{{- with $v.mail.domain }}
SVC_MAIL_DOMAIN: {{ . | quote }}
{{- end }}
SVC_MAIL_DKIM_SELECTOR: {{ $v.mail.dkimSelector | quote }}
{{- if $v.mail.existingSecret.dkimKey }}
SVC_MAIL_DKIM_KEY_FILE: /etc/svc/mail/dkim.pem
{{- end }}
{{- if $v.mail.existingSecret.caKey }}
SVC_SMTP_CA_FILE: /etc/svc/mail/ca.crt
{{- end }}
{{- end -}}
