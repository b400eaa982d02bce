{{/* The prefix of all object names. */}}
{{- define "weir.fullname" -}}
{{- default (ternary .Release.Name (printf "%s-weir" .Release.Name) (contains "weir" .Release.Name)) .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that selectors use. They must not depend on the version. Takes (root, component). */}}
{{- define "weir.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of an object. Takes (root, component). */}}
{{- define "weir.labels" -}}
{{- $root := index . 0 -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: weir
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Name, namespace and labels of an object. Takes (root, component). */}}
{{- define "weir.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "weir.fullname" $root }}-{{ index . 1 }}
namespace: {{ $root.Release.Namespace | quote }}
labels:
  {{- include "weir.labels" (list $root (index . 1)) | nindent 2 }}
{{- end -}}

{{/* Annotations of the objects that `helm test` creates and deletes. */}}
{{- define "weir.testHook" -}}
helm.sh/hook: test
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
