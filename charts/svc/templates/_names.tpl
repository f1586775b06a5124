{{/* Names and labels. */}}

{{/* A release may have dots in its name, a Service may not. */}}
{{- define "svc.fullname" -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains .Chart.Name $release -}}
{{- $release | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" $release .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that a selector may use: they never change. Takes `root` and `component`. */}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of a pod: those of its selector, and the version, which new pods are for anyway. */}}
{{- define "svc.podLabels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end -}}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Head of an object: `root`, `component`, optional `suffix` of the name. */}}
{{- define "svc.metadata" -}}
name: {{ include "svc.fullname" .root }}-{{ .suffix | default .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "svc.labels" . | nindent 2 }}
{{- end -}}

{{- define "svc.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository ($image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The gateway's own Service, as other pods reach it. */}}
{{- define "svc.gatewayService" -}}
{{- printf "http://%s-gateway.%s.svc:%d" (include "svc.fullname" .) .Release.Namespace (int .Values.gateway.service.port) -}}
{{- end -}}

{{/* The console as the gateway reaches it. */}}
{{- define "svc.adminService" -}}
{{- printf "http://%s-admin.%s.svc:%d" (include "svc.fullname" .) .Release.Namespace (int .Values.admin.service.port) -}}
{{- end -}}

{{/* The gateway as the operator calls it. */}}
{{- define "svc.gatewayUrl" -}}
{{- if .Values.operator.gatewayUrl -}}
{{- .Values.operator.gatewayUrl -}}
{{- else -}}
{{- include "svc.gatewayService" . -}}
{{- end -}}
{{- end -}}

{{/* Origins whose pages may write with a session cookie, with commas between; empty: the product's default. */}}
{{- define "svc.consoleOrigins" -}}
{{- $ingress := .Values.admin.ingress -}}
{{- if .Values.consoleOrigins -}}
{{- join "," .Values.consoleOrigins -}}
{{- else if and .Values.admin.enabled $ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" (ne $ingress.tlsSecret "")) $ingress.host -}}
{{- end -}}
{{- end -}}

{{/* Address of the console, for links in the status of policies; empty where nobody knows. */}}
{{- define "svc.consoleUrl" -}}
{{- .Values.operator.consoleUrl | default (include "svc.consoleOrigins" . | splitList "," | first) -}}
{{- end -}}

{{- define "svc.hasServers" -}}
{{- if or .Values.gateway.enabled .Values.admin.enabled .Values.worker.enabled -}}true{{- end -}}
{{- end -}}
