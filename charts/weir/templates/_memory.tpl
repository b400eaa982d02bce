{{/* Not empty if the pods of a program run JVMs. Takes (root, program). */}}
{{- define "weir.runsJava" -}}
{{- $root := index . 0 -}}
{{- if and $root.Values.worker.java.enabled (eq (index . 1) (include "weir.hostOf" (list $root "worker"))) }}yes{{ end -}}
{{- end -}}

{{/* A quantity of Kubernetes in MiB, rounded down. */}}
{{- define "weir.mebibytes" -}}
{{- $text := ternary . (int64 . | toString) (kindIs "string" .) -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := trimPrefix $number $text -}}
{{- if not (and $number (hasKey $units $unit)) -}}{{- fail (printf "the memory %s is not a number with one of the units Ki, Mi, Gi, Ti, k, M, G, T" $text) -}}{{- end -}}
{{- divf (mulf (float64 $number) (index $units $unit)) 1048576 | floor | int64 -}}
{{- end -}}

{{/* Memory of the JVMs in a pod of a program, in MiB. Takes (root, program). */}}
{{- define "weir.javaMebibytes" -}}
{{- with (index . 0).Values.worker.java -}}
{{- ternary (mul .locations (add .heapMebibytes .overheadMebibytes)) 0 (ne "" (include "weir.runsJava" $)) -}}
{{- end -}}
{{- end -}}

{{/* Resource requests and limits of a program: the value `resources`, and the memory of its JVMs. Takes (root, program). */}}
{{- define "weir.resources" -}}
{{- $resources := deepCopy (index (index . 0).Values (index . 1)).resources -}}
{{- $more := include "weir.javaMebibytes" . | int64 -}}
{{- if $more -}}
{{- range $kind := list "requests" "limits" -}}
{{- $given := index $resources $kind -}}
{{- if and $given $given.memory -}}
{{- $_ := set $given "memory" (printf "%dMi" (add (include "weir.mebibytes" $given.memory | int64) $more)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{/* The value `heapPercentage`, as a percentage of a limit that includes the memory of JVMs. Takes (root, program). */}}
{{- define "weir.heapPercentage" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
{{- $more := include "weir.javaMebibytes" . | int64 -}}
{{- $limit := ($values.resources.limits).memory -}}
{{- if and $more $limit -}}
{{- $own := include "weir.mebibytes" $limit | int64 -}}
{{- max 1 (div (mul $values.heapPercentage $own) (add $own $more)) -}}
{{- else -}}
{{- $values.heapPercentage -}}
{{- end -}}
{{- end -}}
