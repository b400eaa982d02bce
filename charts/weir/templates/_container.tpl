{{/* The image without Java. */}}
{{- define "weir.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The image of a program. Takes (root, program). */}}
{{- define "weir.programImage" -}}
{{- $root := index . 0 -}}
{{- if include "weir.runsJava" . -}}
{{- with $root.Values -}}
{{- $tag := default (printf "%s-java" (default $root.Chart.AppVersion .image.tag)) .worker.java.tag -}}
{{ .image.repository }}{{ if .worker.java.digest }}@{{ .worker.java.digest }}{{ else }}:{{ $tag }}{{ end }}
{{- end -}}
{{- else -}}
{{- include "weir.image" $root -}}
{{- end -}}
{{- end -}}

{{/* Arguments of a program, as a YAML list. Takes (root, program). */}}
{{- define "weir.args" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- with $root.Values -}}
- {{ $program }}
{{- if ne $program "operator" }}
- --config=/etc/weir/config/{{ $program }}.properties
{{- else }}
- --config=/etc/weir/config/operator.yaml
- --monitoring=http://0.0.0.0:8080
{{- if .operator.watchSecrets }}
- --secrets
{{- end }}
{{- if .webhook.enabled }}
- --webhook=https://0.0.0.0:9443
- --webhook-service={{ $root.Release.Namespace }}/{{ include "weir.fullname" $root }}-webhook
{{- if ne .webhook.certificates "SelfMade" }}
- --webhook-certificates=/etc/weir/webhook
{{- end }}
{{- end }}
{{- if .console.enabled }}
- --console={{ ternary "https" "http" (ne .console.tlsSecretName "") }}://0.0.0.0:8082
{{- if .console.tlsSecretName }}
- --console-certificates=/etc/weir/console
{{- end }}
{{- if .console.anonymous }}
- --console-anonymous
{{- end }}
{{- end }}
{{- if eq .runtimes "Embedded" }}
{{- if .kafka.embedded.enabled }}
- --data=/data
- --data-fsync={{ .kafka.embedded.fsync }}
{{- else }}
{{- with .kafka.bootstrapServers }}
- {{ printf "--bootstrap=%s" . | quote }}
{{- end }}
{{- range $key, $value := include "weir.kafkaSettings" $root | fromYaml }}
- {{ printf "--set=%s=%s" $key $value | quote }}
{{- end }}
{{- end }}
{{- range $runtime := list "registry" "worker" }}
{{- range $key, $value := include (printf "weir.%sSettings" $runtime) $root | fromYaml }}
- {{ printf "--set=%s.%s=%s" $runtime $key $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
{{- with include "weir.kafkaReference" . }}
{{ . }}
{{- end }}
{{- end -}}

{{/* Environment of a program, as a YAML list. Takes (root, program). */}}
{{- define "weir.env" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $values := index $root.Values $program -}}
{{- $service := printf "%s-%s-pods.%s.svc" (include "weir.fullname" $root) $program $root.Release.Namespace -}}
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage={{ include "weir.heapPercentage" . }}
{{- if ne $program "operator" }}
- name: POD_NAME
  valueFrom:
    fieldRef: { fieldPath: metadata.name }
- name: {{ ternary "SCHEMA_REGISTRY_HOST_NAME" "CONNECT_REST_ADVERTISED_HOST_NAME" (eq $program "registry") }}
  value: $(POD_NAME).{{ $service }}
{{- end }}
{{- if include "weir.usesKafka" . }}
{{- include "weir.kafkaSecrets" (list $root (index (dict "operator" "WEIR_SET_" "registry" "SCHEMA_REGISTRY_BROKERSTORE_" "worker" "CONNECT_") $program)) }}
{{- end }}
{{- with $values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The mounts of a program: a YAML list of {name, path, readOnly, volume}. Volumes have numbers, because names of Secrets may be longer and have dots. Takes (root, program). */}}
{{- define "weir.mounts" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $name := include "weir.fullname" $root -}}
{{- with $root.Values -}}
- { name: tmp, path: /tmp, volume: { emptyDir: { sizeLimit: 512Mi } } }
- { name: config, path: /etc/weir/config, volume: { configMap: { name: {{ $name }}-{{ $program }} } } }
{{- if and (include "weir.usesKafka" (list $root $program)) .kafka.tls.enabled .kafka.tls.caSecretName }}
- { name: kafka, path: /etc/weir/kafka, volume: { secret: { secretName: {{ .kafka.tls.caSecretName | quote }}, items: [{ key: {{ .kafka.tls.caKey | quote }}, path: {{ .kafka.tls.caKey | quote }} }] } } }
{{- end }}
{{- if eq .runtimes "Separate" }}
{{- range $runtime := list "registry" "worker" }}
{{- $values := index $root.Values $runtime }}
{{- $own := eq $runtime $program }}
{{- if and $values.enabled $values.tls.secretName (or $own (eq $program "operator") (eq $runtime "registry")) }}
- { name: {{ $runtime }}-tls, path: /etc/weir/{{ $runtime }}-tls, volume: { secret: { secretName: {{ $values.tls.secretName | quote }}{{ if not $own }}, items: [{ key: ca.crt, path: ca.crt }]{{ end }} } } }
{{- end }}
{{- if and $values.enabled $values.users.secretName (or $own (eq $program "operator")) }}
- { name: {{ $runtime }}-users, path: /etc/weir/{{ $runtime }}-users, volume: { secret: { secretName: {{ $values.users.secretName | quote }}, items: [{{ if $own }}{ key: users, path: users }{{ else }}{ key: username, path: username }, { key: password, path: password }{{ end }}] } } }
{{- end }}
{{- if and $values.enabled $values.oidc.tokenSecretName (eq $program "operator") }}
- { name: {{ $runtime }}-token, path: /etc/weir/{{ $runtime }}-token, volume: { secret: { secretName: {{ $values.oidc.tokenSecretName | quote }}, items: [{ key: token, path: token }] } } }
{{- end }}
{{- if and $own $values.permissions.configMapName }}
- { name: {{ $runtime }}-permissions, path: /etc/weir/{{ $runtime }}-permissions, volume: { configMap: { name: {{ $values.permissions.configMapName | quote }} } } }
{{- end }}
{{- end }}
{{- end }}
{{- if eq $program "operator" }}
{{- if and .webhook.enabled (ne .webhook.certificates "SelfMade") }}
- { name: webhook, path: /etc/weir/webhook, volume: { secret: { secretName: {{ ternary (printf "%s-webhook-certificate" $name) .webhook.secretName (eq .webhook.certificates "CertManager") | quote }} } } }
{{- end }}
{{- if and .console.enabled .console.tlsSecretName }}
- { name: console, path: /etc/weir/console, volume: { secret: { secretName: {{ .console.tlsSecretName | quote }} } } }
{{- end }}
{{- range $at, $secret := .operator.secrets }}
- { name: secret-{{ $at }}, path: /etc/weir/secrets/{{ $secret }}, volume: { secret: { secretName: {{ $secret | quote }} } } }
{{- end }}
{{- if .kafka.embedded.enabled }}
- { name: data, path: /data, readOnly: false, volume: {{ ternary (dict "persistentVolumeClaim" (dict "claimName" (printf "%s-data" $name))) (dict "emptyDir" dict) (ne .kafka.embedded.size "") | toJson }} }
{{- end }}
{{- end }}
{{- if eq $program (include "weir.hostOf" (list $root "worker")) }}
{{- with .worker.plugins }}
{{- if .npm.packages }}
- { name: plugins, path: /plugins/npm, volume: { emptyDir: {} } }
{{- end }}
{{- if .maven.artifacts }}
- { name: java-plugins, path: /plugins/maven, volume: { emptyDir: {} } }
{{- end }}
{{- range $at, $configMap := .configMaps }}
- { name: plugins-config-map-{{ $at }}, path: /plugins/config-maps/{{ $configMap }}, volume: { configMap: { name: {{ $configMap | quote }} } } }
{{- end }}
{{- range $at, $image := .images }}
- { name: plugins-{{ $at }}, path: /plugins/images/{{ $at }}, volume: { image: {{ toJson $image }} } }
{{- end }}
{{- range $at, $claim := .claims }}
- { name: claim-{{ $at }}, path: /plugins/claims/{{ $claim }}, volume: { persistentVolumeClaim: { claimName: {{ $claim | quote }}, readOnly: true } } }
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "weir.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
