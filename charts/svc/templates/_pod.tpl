{{/*
The one shape of a pod: every program runs without rights, on a read-only root, with what it writes in /var/lib/svc
(data) and /tmp. Takes `root`, `component`, `program` (its values), `command` and what it needs: `database`, `keyRing`,
`rails`, `mail`, `storefrontTls`, `providers`, `providerKeys`, `redis`, `data` (emptyDir | claim), `env`, `ports`, `probes`, `graceSeconds`,
`preStopSeconds`, `serviceAccount`.
*/}}

{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.security.runAsUser }}
runAsGroup: {{ .Values.security.runAsUser }}
fsGroup: {{ .Values.security.fsGroup }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "svc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "svc.pullSecrets" -}}
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end -}}

{{- define "svc.secretEnv" -}}
- name: {{ .env }}
  valueFrom:
    secretKeyRef:
      name: {{ .name }}
      key: {{ .key }}
{{- end -}}

{{- define "svc.secretEnvs" -}}
{{- $v := .root.Values -}}
{{- if .database }}
{{ include "svc.secretEnv" (dict "env" "SVC_DATABASE_URL" "name" $v.postgres.existingSecret.name "key" $v.postgres.existingSecret.key) }}
{{- with $v.postgres.existingSecret }}
{{- if .directKey }}
{{ include "svc.secretEnv" (dict "env" "SVC_DATABASE_DIRECT_URL" "name" .name "key" .directKey) }}
{{- end }}
{{- end }}
{{- with $v.challenge.existingSecret }}
{{- if .name }}
{{ include "svc.secretEnv" (dict "env" "SVC_CHALLENGE_SECRET" "name" .name "key" .key) }}
{{- end }}
{{- end }}
{{- with $v.analytics.existingSecret }}
{{- if .name }}
{{ include "svc.secretEnv" (dict "env" "SVC_ANALYTICS_URL" "name" .name "key" .key) }}
{{- end }}
{{- end }}
{{- with $v.ledger.shards.existingSecret }}
{{- if .name }}
{{ include "svc.secretEnv" (dict "env" "SVC_LEDGER_SHARDS" "name" .name "key" .key) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .redis $v.redis.existingSecret.name }}
{{ include "svc.secretEnv" (dict "env" "SVC_REDIS_URL" "name" $v.redis.existingSecret.name "key" $v.redis.existingSecret.key) }}
{{- end }}
{{- $temporal := $v.temporal.apiKey.existingSecret }}
{{- if and .temporal $temporal.name }}
{{ include "svc.secretEnv" (dict "env" "SVC_TEMPORAL_API_KEY" "name" $temporal.name "key" $temporal.key) }}
{{- end }}
{{- if and .temporal $v.eInvoices.existingSecret.name }}
{{ include "svc.secretEnv" (dict "env" "SVC_EINVOICE_TOKEN" "name" $v.eInvoices.existingSecret.name "key" $v.eInvoices.existingSecret.key) }}
{{- if $v.eInvoices.existingSecret.keysKey }}
- name: SVC_EINVOICE_KEYS_FILE
  value: /etc/svc/e-invoices/keys.pem
{{- end }}
{{- end }}
{{- if .rails }}
{{- with $v.rails.a.existingSecret }}
{{- if .name }}
{{ include "svc.secretEnv" (dict "env" "SVC_RAIL_A_KEY_SECRET" "name" .name "key" .keySecretKey) }}
{{ include "svc.secretEnv" (dict "env" "SVC_RAIL_A_WEBHOOK_SECRET" "name" .name "key" .webhookSecretKey) }}
{{- end }}
{{- end }}
{{- with $v.rails.b.existingSecret }}
{{- if .name }}
{{ include "svc.secretEnv" (dict "env" "SVC_RAIL_B_KEY_SECRET" "name" .name "key" .keySecretKey) }}
{{ include "svc.secretEnv" (dict "env" "SVC_RAIL_B_WEBHOOK_SECRET" "name" .name "key" .webhookSecretKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- $eab := $v.storefronts.acme.eab -}}
{{- if and .mail $v.storefronts.acme.directoryUrl $eab.kid }}
{{ include "svc.secretEnv" (dict "env" "SVC_ACME_EAB_KEY" "name" $eab.existingSecret.name "key" $eab.existingSecret.key) }}
{{- end }}
{{- if and .mail $v.mail.existingSecret.name }}
{{ include "svc.secretEnv" (dict "env" "SVC_SMTP_URL" "name" $v.mail.existingSecret.name "key" $v.mail.existingSecret.urlKey) }}
{{- end }}
{{- if .providerKeys }}
{{- range $v.providers.keys }}
{{ include "svc.secretEnv" (dict "env" .env "name" .secretName "key" .secretKey) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "svc.mounts" -}}
{{- $v := .root.Values -}}
- name: tmp
  mountPath: /tmp
{{- if .data }}
- name: data
  mountPath: /var/lib/svc
{{- end }}
{{- if .keyRing }}
- name: key-ring
  mountPath: /etc/svc/key-ring
  readOnly: true
{{- end }}
{{- if and .providers (or $v.providers.file $v.providers.existingConfigMap) }}
- name: providers
  mountPath: /etc/svc/providers
  readOnly: true
{{- end }}
{{- if and .temporal $v.temporal.tls.existingSecret.name }}
- name: temporal-tls
  mountPath: /etc/svc/temporal-tls
  readOnly: true
{{- end }}
{{- if and .mail (or $v.mail.existingSecret.dkimKey $v.mail.existingSecret.caKey) }}
- name: mail
  mountPath: /etc/svc/mail
  readOnly: true
{{- end }}
{{- if and .storefrontTls $v.storefronts.tls.existingSecret.name }}
- name: storefront-tls
  mountPath: /etc/svc/storefront-tls
  readOnly: true
{{- end }}
{{- if and .temporal $v.eInvoices.existingSecret.name $v.eInvoices.existingSecret.keysKey }}
- name: e-invoices
  mountPath: /etc/svc/e-invoices
  readOnly: true
{{- end }}
{{- if $v.trustedCa.existingConfigMap }}
- name: trusted-ca
  mountPath: /etc/svc/trusted-ca
  readOnly: true
{{- end }}
{{- end -}}

{{- define "svc.volumes" -}}
{{- $v := .root.Values -}}
- name: tmp
  emptyDir: {}
{{- if eq (.data | default "") "emptyDir" }}
- name: data
  emptyDir: {}
{{- end }}
{{- if .keyRing }}
- name: key-ring
  secret:
    secretName: {{ $v.keyRing.existingSecret.name }}
    defaultMode: 0440
    items:
      - key: {{ $v.keyRing.existingSecret.key }}
        path: keyring.json
{{- end }}
{{- if and .providers (or $v.providers.file $v.providers.existingConfigMap) }}
- name: providers
  configMap:
    name: {{ $v.providers.existingConfigMap | default (printf "%s-providers" (include "svc.fullname" .root)) }}
{{- end }}
{{- if and .temporal $v.temporal.tls.existingSecret.name }}
{{- $tls := $v.temporal.tls.existingSecret }}
- name: temporal-tls
  secret:
    secretName: {{ $tls.name }}
    defaultMode: 0440
    items:
      {{- with $tls.caKey }}
      - key: {{ . }}
        path: ca.crt
      {{- end }}
      {{- with $tls.certKey }}
      - key: {{ . }}
        path: tls.crt
      {{- end }}
      {{- with $tls.keyKey }}
      - key: {{ . }}
        path: tls.key
      {{- end }}
{{- end }}
{{- if and .mail (or $v.mail.existingSecret.dkimKey $v.mail.existingSecret.caKey) }}
- name: mail
  secret:
    secretName: {{ $v.mail.existingSecret.name }}
    defaultMode: 0440
    items:
      {{- with $v.mail.existingSecret.dkimKey }}
      - key: {{ . }}
        path: dkim.pem
      {{- end }}
      {{- with $v.mail.existingSecret.caKey }}
      - key: {{ . }}
        path: ca.crt
      {{- end }}
{{- end }}
{{- if and .storefrontTls $v.storefronts.tls.existingSecret.name }}
- name: storefront-tls
  secret:
    secretName: {{ $v.storefronts.tls.existingSecret.name }}
    defaultMode: 0440
    items:
      - key: {{ $v.storefronts.tls.existingSecret.certKey }}
        path: tls.crt
      - key: {{ $v.storefronts.tls.existingSecret.keyKey }}
        path: tls.key
{{- end }}
{{- if and .temporal $v.eInvoices.existingSecret.name $v.eInvoices.existingSecret.keysKey }}
- name: e-invoices
  secret:
    secretName: {{ $v.eInvoices.existingSecret.name }}
    defaultMode: 0440
    items:
      - key: {{ $v.eInvoices.existingSecret.keysKey }}
        path: keys.pem
{{- end }}
{{- if $v.trustedCa.existingConfigMap }}
- name: trusted-ca
  configMap:
    name: {{ $v.trustedCa.existingConfigMap }}
    items:
      - key: {{ $v.trustedCa.key }}
        path: ca.crt
{{- end }}
{{- end -}}

{{- define "svc.spread" -}}
{{- $context := . -}}
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "svc.selector" $context | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "svc.podTemplate" -}}
{{- $root := .root -}}
metadata:
  labels:
    {{- include "svc.podLabels" . | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ .component }}
    {{- if .settings }}
    # A changed setting starts new pods; a changed Secret does not (README.md).
    checksum/settings: {{ include "svc.settings" $root | sha256sum }}
    {{- end }}
    {{- if .providers }}
    checksum/providers: {{ $root.Values.providers.file | sha256sum }}
    {{- end }}
    {{- with .program.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  # A Service named svc would set SVC_PORT and the like, which are settings of the programs.
  enableServiceLinks: false
  serviceAccountName: {{ include "svc.fullname" $root }}-{{ .component }}
  automountServiceAccountToken: {{ .serviceAccountToken | default false }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets: {{- include "svc.pullSecrets" . | trim | nindent 4 }}
  {{- end }}
  terminationGracePeriodSeconds: {{ int .graceSeconds }}
  securityContext:
    {{- include "svc.podSecurity" $root | nindent 4 }}
  topologySpreadConstraints:
    {{- include "svc.spread" . | trim | nindent 4 }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" }}
  {{- with index $.program $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "svc.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: {{ toJson .command }}
      {{- with .args }}
      args:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if .settings }}
      envFrom:
        - configMapRef:
            name: {{ include "svc.fullname" $root }}-settings
      {{- end }}
      env:
        - name: NODE_ENV
          value: production
        # Compiled sources outlive a restart of the container.
        - name: NODE_COMPILE_CACHE
          value: /tmp/compiled
        {{- if $root.Values.trustedCa.existingConfigMap }}
        - name: NODE_EXTRA_CA_CERTS
          value: /etc/svc/trusted-ca/ca.crt
        {{- end }}
        {{- with .env }}
        {{- . | trim | nindent 8 }}
        {{- end }}
        {{- with include "svc.secretEnvs" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
      ports:
        {{- range .ports }}
        - name: {{ .name }}
          containerPort: {{ .port }}
          protocol: TCP
        {{- end }}
      {{- $probe := .probe }}
      startupProbe:
        httpGet: { path: /healthz, port: {{ $probe }} }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: {{ $probe }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: {{ $probe }} }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      {{- with .preStopSeconds }}
      lifecycle:
        preStop:
          # Load balancers hear of the end before the process does.
          sleep:
            seconds: {{ int . }}
      {{- end }}
      resources:
        {{- toYaml .program.resources | nindent 8 }}
      securityContext:
        {{- include "svc.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        {{- include "svc.mounts" . | trim | nindent 8 }}
  volumes:
    {{- include "svc.volumes" . | trim | nindent 4 }}
{{- end -}}

{{/* SVC_PROCESS_NAME: the pod's name tells processes apart in leases and logs, and is the same after a restart. */}}
{{- define "svc.processName" -}}
- name: SVC_PROCESS_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end -}}
