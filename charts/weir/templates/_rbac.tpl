{{/* A role and its binding to the ServiceAccount of a program. Takes (root, program, {name, namespace?, rules}). */}}
{{- define "weir.grant" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- with index . 2 -}}
{{- $kind := ternary "Role" "ClusterRole" (hasKey . "namespace") }}
{{- $metadata := printf "name: %s\nlabels:\n%s" .name (include "weir.labels" (list $root $program) | indent 2) }}
{{- if .namespace }}{{- $metadata = printf "namespace: %s\n%s" (quote .namespace) $metadata }}{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  {{- $metadata | nindent 2 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  {{- $metadata | nindent 2 }}
subjects:
  - { kind: ServiceAccount, name: {{ include "weir.fullname" $root }}-{{ $program }}, namespace: {{ $root.Release.Namespace | quote }} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ .name }} }
{{ end -}}
{{- end -}}
