{{/* Who may call each program, and whom it may call. A list of peers that is empty means anybody, but for staff. */}}

{{- define "svc.ingressOf.gateway" -}}
{{- if .Values.storefronts.tls.enabled }}
# Browsers, and the authority: anybody.
- ports:
    - { port: tls, protocol: TCP }
    - { port: tls-http, protocol: TCP }
{{- end }}
- ports:
    - { port: http, protocol: TCP }
  {{- with .Values.networkPolicy.gatewayFrom }}
  from:
    {{- toYaml . | nindent 4 }}
    {{- range $name := list "operator" "worker" }}
    {{- if (index $.Values $name).enabled }}
    - podSelector:
        matchLabels:
          {{- include "svc.selector" (dict "root" $ "component" $name) | nindent 10 }}
    {{- end }}
    {{- end }}
  {{- end }}
{{- end -}}

{{- define "svc.ingressOf.admin" -}}
- ports:
    - { port: tenant, protocol: TCP }
  {{- with .Values.networkPolicy.adminFrom }}
  from:
    {{- toYaml . | nindent 4 }}
    {{- if and $.Values.storefronts.tls.enabled $.Values.gateway.enabled }}
    - podSelector:
        matchLabels:
          {{- include "svc.selector" (dict "root" $ "component" "gateway") | nindent 10 }}
    {{- end }}
  {{- end }}
{{- with .Values.networkPolicy.staffFrom }}
- ports:
    - { port: staff, protocol: TCP }
  from:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "svc.ingressOf.worker" -}}{{- end -}}
{{- define "svc.ingressOf.operator" -}}{{- end -}}
{{- define "svc.ingressOf.migrations" -}}{{- end -}}

{{- define "svc.ingressOfMetrics" -}}
{{- with .Values.networkPolicy.metricsFrom -}}
- ports:
    - { port: metrics, protocol: TCP }
  from:
    {{- toYaml . | nindent 4 }}
{{- end -}}
{{- end -}}

{{- define "svc.egressTo" -}}
- ports:
    - { port: {{ .port }}, protocol: TCP }
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Providers, rails and receivers of webhooks: the internet without the networks inside. */}}
{{- define "svc.egressInternet" -}}
{{- $internet := .Values.networkPolicy.internet -}}
- ports:
    {{- range $internet.ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  to:
    {{- range $cidr := list "0.0.0.0/0" "::/0" }}
    {{- $except := list }}
    {{- range $internet.except }}
    {{- if eq (contains ":" .) (contains ":" $cidr) }}{{ $except = append $except . }}{{ end }}
    {{- end }}
    - ipBlock:
        cidr: {{ $cidr | quote }}
        {{- with $except }}
        except: {{ toJson . }}
        {{- end }}
    {{- end }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "svc.egressOf.migrations" -}}
{{ include "svc.egressTo" .Values.networkPolicy.postgres }}
{{- end -}}

{{/* The mail server, which may be anywhere: submission with TLS from the first byte or by STARTTLS, or a relay. */}}
{{- define "svc.egressMail" -}}
{{- if .Values.mail.existingSecret.name -}}
- ports:
    - { port: 465, protocol: TCP }
    - { port: 587, protocol: TCP }
    - { port: 25, protocol: TCP }
{{- end -}}
{{- end -}}

{{- define "svc.egressOf.gateway" -}}
{{ include "svc.egressTo" .Values.networkPolicy.postgres }}
{{- if .Values.analytics.existingSecret.name }}
{{ include "svc.egressTo" .Values.networkPolicy.analytics }}
{{- end }}
{{- if .Values.redis.existingSecret.name }}
{{ include "svc.egressTo" .Values.networkPolicy.redis }}
{{- end }}
{{- if and .Values.storefronts.tls.enabled .Values.admin.enabled }}
- ports:
    - { port: tenant, protocol: TCP }
  to:
    - podSelector:
        matchLabels:
          {{- include "svc.selector" (dict "root" $ "component" "admin") | nindent 10 }}
{{- end }}
{{ include "svc.egressInternet" . }}
{{ include "svc.egressMail" . }}
{{- end -}}

{{- define "svc.egressOf.admin" -}}
{{ include "svc.egressTo" .Values.networkPolicy.postgres }}
{{- if .Values.analytics.existingSecret.name }}
{{ include "svc.egressTo" .Values.networkPolicy.analytics }}
{{- end }}
{{- if .Values.redis.existingSecret.name }}
{{ include "svc.egressTo" .Values.networkPolicy.redis }}
{{- end }}
{{ include "svc.egressInternet" . }}
{{- end -}}

{{- define "svc.egressToGateway" -}}
{{- if .Values.gateway.enabled -}}
- ports:
    - { port: http, protocol: TCP }
  to:
    - podSelector:
        matchLabels:
          {{- include "svc.selector" (dict "root" $ "component" "gateway") | nindent 10 }}
{{- end -}}
{{- end -}}

{{- define "svc.egressOf.worker" -}}
{{ include "svc.egressToGateway" . }}
{{ include "svc.egressTo" .Values.networkPolicy.postgres }}
{{- if .Values.analytics.existingSecret.name }}
{{ include "svc.egressTo" .Values.networkPolicy.analytics }}
{{- end }}
{{ include "svc.egressTo" .Values.networkPolicy.temporal }}
{{ include "svc.egressInternet" . }}
{{ include "svc.egressMail" . }}
{{- end -}}

{{- define "svc.egressOf.operator" -}}
- ports:
    {{- range .Values.networkPolicy.kubernetesApi.ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- with .Values.networkPolicy.kubernetesApi.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{ include "svc.egressToGateway" . }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
