{{/* Programs that have pods of their own, as a YAML list. */}}
{{- define "weir.programs" -}}
- operator
{{- if eq .Values.runtimes "Separate" }}
{{- range list "registry" "worker" }}
{{- if (index $.Values .).enabled }}
- {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The program whose pods run a runtime; empty if none does. Takes (root, runtime). */}}
{{- define "weir.hostOf" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.runtimes "Embedded" -}}operator
{{- else if (index $root.Values (index . 1)).enabled -}}{{ index . 1 }}
{{- end -}}
{{- end -}}

{{/* The URL scheme of a program: http or https. Takes (root, program). */}}
{{- define "weir.scheme" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
{{- if and (eq (index . 0).Values.runtimes "Separate") $values.tls $values.tls.secretName -}}https{{- else -}}http{{- end -}}
{{- end -}}

{{/* The port of a program's probes. */}}
{{- define "weir.port" -}}
{{- index (dict "operator" 8080 "registry" 8081 "worker" 8083) . -}}
{{- end -}}

{{/* The URL of a runtime inside the cluster. Takes (root, runtime). */}}
{{- define "weir.url" -}}
{{- $root := index . 0 -}}
{{- printf "%s://%s-%s.%s.svc:%s" (include "weir.scheme" .) (include "weir.fullname" $root) (index . 1) $root.Release.Namespace (include "weir.port" (index . 1)) -}}
{{- end -}}

{{/* Namespaces that are watched, as a YAML list; empty: all. */}}
{{- define "weir.watched" -}}
{{- if not (has "*" .Values.watchNamespaces) -}}
{{- toYaml (default (list .Release.Namespace) .Values.watchNamespaces) -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}
